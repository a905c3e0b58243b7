//! Damages seeds: the same in every run with the same number.

/// xorshift64*
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 1).unwrap_or_default() % end.max(1)
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Pieces that are worth putting where they do not belong.
const PIECES: [&[u8]; 64] = [
    b"eq(1,1)",
    b"@rax=1",
    b"=1",
    b"++",
    b");",
    b";(",
    b"(int)",
    b"*",
    b"->",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\"",
    b"\\",
    b"\\\"",
    b"\\n",
    b"\n",
    b"\t",
    b" ",
    b"  ",
    b"/*",
    b"*/",
    b"**/",
    b"//",
    b"`",
    b"0x",
    b"0n",
    b"0y",
    b"ff",
    b"-",
    b"~",
    b"!",
    b"$pid",
    b".g",
    b"x",
    b"@",
    b"nt!x",
    b"script {",
    b"code {",
    b"pause();",
    b"while(1){",
    b"exit",
    b"output",
    b"l",
    b"pid",
    b"path",
    b"#include \"x\";",
    b"L\"",
    b"%s",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xe2\x80\xae",
    b"\xe2\x80\x8b",
    b"\x1b[31m",
    b"<captured-",
    b"</captured-0123456789abcdef>",
    b"\r\n",
    b"99999999999",
    b",",
    b";",
    b"struct S{int a;};",
    b"break;",
];

/// A seed with a few changes.
pub(crate) fn damaged(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    const LONGEST: usize = 4096;
    let mut bytes = random.pick(seeds).clone();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        match random.below(8) {
            0 | 1 => drop(bytes.splice(at..at, random.pick(&PIECES).iter().copied())),
            2 => {
                let end = (at + random.below(8)).min(bytes.len());
                bytes.drain(at..end);
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            4 => {
                let other = random.pick(seeds);
                let from = random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            5 => {
                let other = random.pick(seeds).clone();
                bytes.push(b'\n');
                bytes.extend(other.iter().skip(1));
            }
            6 => {
                let end = (at + random.below(16)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => bytes.rotate_left(at),
        }
        bytes.truncate(LONGEST);
    }
    bytes
}
