// One program of its own for each process that runs in user mode.

function main 1000
    sub rsp, 0x28
again:
    lea rcx, [FileName]
    call qword ptr [ImportCreateFile]
    mov [Handle], rax
    mov rcx, rax
    lea rdx, [Buffer]
    mov r8d, 0x40
    call qword ptr [ImportReadFile]
    lea rcx, [Buffer]
    mov edx, 0x40
    call Checksum
    add [Total], rax
    mov rcx, [Handle]
    call qword ptr [ImportClose]
    inc qword ptr [Rounds]
    call qword ptr [ImportSleep]
    jmp again

function Checksum 1100
    xor eax, eax
next:
    movsx r8, byte ptr [rcx]
    imul rax, rax, 0x1f
    add rax, r8
    inc rcx
    sub edx, 1
    jne next
    ret

data FileName 3000 80
data ImportCreateFile 3080 8
data ImportReadFile 3088 8
data ImportClose 3090 8
data ImportSleep 3098 8
data Handle 30a0 8
data Total 30a8 8
data Rounds 30b0 8
data Buffer 3100 40
