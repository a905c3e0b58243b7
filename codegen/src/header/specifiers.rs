//! The part of a declaration in front of its names: storage, attributes, and the type.

use std::rc::Rc;

use super::code;
use super::layout::{self, NoExtent};
use super::parser::{Parser, Result};
use super::token::{Kind, Token};
use super::types::{Basic, Extent, RecordKind, Tag, Ty};

/// What a declaration does with its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    None,
    Typedef,
    Extern,
}

/// What stands in front of the names of a declaration.
#[derive(Debug)]
pub(crate) struct Specifiers {
    pub(crate) storage: Storage,
    pub(crate) ty: Ty,
    pub(crate) constant: bool,
    /// The visibility macro.
    pub(crate) marker: Option<Rc<str>>,
    /// Whether a tag or enumerators are declared, so that no name needs to follow.
    pub(crate) declares: bool,
    /// Whether the type is a record that is defined right here without a tag.
    pub(crate) untagged_record: bool,
}

/// Attributes that change neither layout nor ABI.
const HARMLESS_ATTRIBUTES: &[&str] = &[
    "dllimport",
    "dllexport",
    "noinline",
    "noreturn",
    "nothrow",
    "deprecated",
    "selectany",
    "restrict",
    "visibility",
    "unused",
    "used",
    "format",
    "nonnull",
    "warn_unused_result",
    "pure",
    "const",
];

/// Longest name that is compared with others for a suggestion.
const MAX_COMPARED: usize = 80;

/// Calling conventions: x64 has one, so they say nothing.
const CALLING_CONVENTIONS: &[&str] = &["__cdecl", "_cdecl", "__stdcall", "_stdcall", "__fastcall"];

/// Words of C++ and C that no supported declaration contains; named in the error.
const UNSUPPORTED: &[&str] = &[
    "class",
    "template",
    "namespace",
    "using",
    "constexpr",
    "virtual",
    "friend",
    "operator",
    "alignas",
    "_Alignas",
    "auto",
    "register",
    "_Atomic",
    "_Complex",
    "_Generic",
    "typeof",
    "__typeof__",
    "decltype",
    "thread_local",
    "_Thread_local",
    "asm",
    "__asm",
    "explicit",
    "mutable",
    "__unaligned",
    "__m128",
    "__m256",
    "__int128",
];

#[derive(Default)]
struct Words {
    base: Option<&'static str>,
    long: u32,
    signed: bool,
    unsigned: bool,
}

impl Parser<'_> {
    /// Whether the token `by` positions ahead begins a type.
    pub(crate) fn is_type_ahead(&self, by: usize) -> bool {
        let token = self.ahead(by);
        if self.preprocessing || token.kind != Kind::Word {
            return false;
        }
        let text = &*token.text;
        basic_word(text).is_some()
            || matches!(
                text,
                "const"
                    | "volatile"
                    | "struct"
                    | "union"
                    | "enum"
                    | "signed"
                    | "__signed"
                    | "unsigned"
                    | "long"
            )
            || self.types.typedef_names.contains_key(text)
            || self.types.tags.contains_key(text) && !self.types.constants.contains_key(text)
    }

    /// Reads specifiers; `file_level` allows storage and visibility.
    pub(crate) fn specifiers(&mut self, file_level: bool) -> Result<Specifiers> {
        let first = self.peek().clone();
        let mut out = Specifiers {
            storage: Storage::None,
            ty: Ty::Basic(Basic::Void),
            constant: false,
            marker: None,
            declares: false,
            untagged_record: false,
        };
        let mut words = Words::default();
        let mut ty: Option<Ty> = None;
        loop {
            let token = self.peek().clone();
            if token.kind == Kind::Marker && file_level {
                out.marker = Some(Rc::clone(&self.next().text));
                continue;
            }
            if token.kind != Kind::Word {
                break;
            }
            let seen = ty.is_some() || words.any();
            match &*token.text {
                "typedef" | "extern" if file_level && out.storage == Storage::None => {
                    self.next();
                    out.storage = if token.is("typedef") {
                        Storage::Typedef
                    } else {
                        Storage::Extern
                    };
                }
                "static" | "inline" | "__inline" | "__forceinline" if file_level => {
                    self.next();
                }
                "const" => {
                    self.next();
                    out.constant = true;
                }
                // Says how memory is accessed, not where members lie.
                "volatile" => {
                    self.next();
                }
                "__declspec" | "__attribute__" => self.attribute()?,
                text if CALLING_CONVENTIONS.contains(&text) => {
                    self.next();
                }
                "struct" | "union" if !seen => {
                    let (id, defined, tagged) = self.record_specifier()?;
                    out.declares |= tagged;
                    out.untagged_record = defined && !tagged;
                    ty = Some(Ty::Record(id));
                }
                "enum" if !seen => {
                    let (id, defined) = self.enum_specifier()?;
                    out.declares |= defined;
                    ty = Some(Ty::Enum(id));
                }
                text if words.take(text, ty.is_some()) => {
                    self.next();
                }
                text if UNSUPPORTED.contains(&text) => {
                    let message = format!("`{text}` is not part of the supported C");
                    return Err(Box::new(self.error(code::SYNTAX, &token, message)));
                }
                _ if seen => break,
                text => {
                    let Some(named) = self.named_type(text) else {
                        return Err(self.unknown_type(&token));
                    };
                    self.next();
                    ty = Some(named);
                }
            }
        }
        out.ty = match ty {
            Some(ty) => ty,
            None if words.any() => match words.basic() {
                Some(basic) => Ty::Basic(basic),
                None => {
                    let message = "these words do not make a type together";
                    return Err(Box::new(self.error(code::SYNTAX, &first, message)));
                }
            },
            None => {
                let token = self.peek().clone();
                return Err(self.unexpected(&token, "where a declaration must stand"));
            }
        };
        out.constant |= self.types.is_constant(&out.ty);
        Ok(out)
    }

    fn named_type(&self, name: &str) -> Option<Ty> {
        if let Some(id) = self.types.typedef_names.get(name) {
            return Some(Ty::Typedef(*id));
        }
        // In C++ a tag is a type name.
        Some(match self.tag(name)? {
            Tag::Record(id) => Ty::Record(id),
            Tag::Enum(id) => Ty::Enum(id),
        })
    }

    fn unknown_type(&self, token: &Token) -> Box<crate::diagnostic::Diagnostic> {
        let mut finding = self.error(
            code::UNKNOWN_TYPE,
            token,
            format!("unknown type {}", token.describe()),
        );
        let nearest = self
            .types
            .typedef_names
            .keys()
            .filter(|name| token.text.len() <= MAX_COMPARED && name.len() <= MAX_COMPARED)
            .map(|name| (strsim::damerau_levenshtein(name, &token.text), name))
            .min()
            .filter(|(distance, name)| *distance <= 2 && *distance < name.len() / 2);
        if let Some((_, name)) = nearest {
            finding = finding.note(format!("a type with a similar name is `{name}`"));
        }
        if self.is_lost(&token.text) {
            finding = finding.note("its declaration was not understood");
        }
        Box::new(finding.help("a type that Windows' own headers declare belongs into api/prelude.h"))
    }

    /// `__declspec(...)` or `__attribute__((...))`.
    pub(crate) fn attribute(&mut self) -> Result<()> {
        let keyword = self.next();
        let double = keyword.is("__attribute__");
        self.expect("(", "after the attribute's keyword")?;
        if double {
            self.expect("(", "after the attribute's keyword")?;
        }
        while !self.peek().is(")") {
            if self.eat(",") {
                continue;
            }
            let name = self.next();
            if name.kind != Kind::Word {
                return Err(self.unexpected(&name, "in an attribute"));
            }
            if !HARMLESS_ATTRIBUTES.contains(&name.text.trim_matches('_')) {
                let message = format!("the attribute `{}` may change a layout or an ABI", name.text);
                let help = "it is not supported; when it changes neither, add it to the harmless ones";
                return Err(Box::new(self.error(code::ATTRIBUTE, &name, message).help(help)));
            }
            if self.eat("(") {
                self.attribute_arguments()?;
            }
        }
        self.next();
        if double {
            self.expect(")", "after the attribute")?;
        }
        Ok(())
    }

    fn attribute_arguments(&mut self) -> Result<()> {
        loop {
            let token = self.next();
            if token.is(")") {
                return Ok(());
            }
            if !matches!(token.kind, Kind::Word | Kind::Number | Kind::Str) && !token.is(",") {
                return Err(self.unexpected(&token, "among the arguments of an attribute"));
            }
        }
    }

    /// Skips calling conventions and attributes.
    pub(crate) fn decorations(&mut self) -> Result<()> {
        loop {
            let token = self.peek();
            if token.is("__attribute__") || token.is("__declspec") {
                self.attribute()?;
            } else if token.kind == Kind::Word && CALLING_CONVENTIONS.contains(&&*token.text) {
                self.next();
            } else {
                return Ok(());
            }
        }
    }

    /// Whether the token `by` positions ahead decorates a declarator.
    pub(crate) fn is_convention(&self, by: usize) -> bool {
        CALLING_CONVENTIONS.contains(&&*self.ahead(by).text)
    }

    /// Size and alignment of a type that is used by value.
    pub(crate) fn extent_of(&self, ty: &Ty, at: &Token) -> Result<Extent> {
        layout::extent(self.types, self.target, ty).map_err(|reason| {
            Box::new(match reason {
                NoExtent::TooLarge => self
                    .error(code::ARRAY, at, "this type is larger than 2 GiB")
                    .help("MSVC refuses it too; check the array's length"),
                NoExtent::Incomplete => self
                    .error(
                        code::INCOMPLETE,
                        at,
                        "this type has no size here: it is not complete",
                    )
                    .help("define the type before it is used by value, or use a pointer to it"),
            })
        })
    }

    /// The record that `struct TAG` or `struct { ... }` names; whether it is defined here, and whether it has a tag.
    fn record_specifier(&mut self) -> Result<(usize, bool, bool)> {
        let keyword = self.next();
        let kind = if keyword.is("struct") {
            RecordKind::Struct
        } else {
            RecordKind::Union
        };
        self.decorations()?;
        let tag = (self.peek().kind == Kind::Word).then(|| self.next());
        if self.peek().is(":") || tag.is_some() && self.peek().is("final") {
            let token = self.peek().clone();
            return Err(self.unexpected(&token, "after a record's tag: base classes are not supported"));
        }
        let id = self.record_id(kind, &keyword, tag.as_ref())?;
        let defined = self.peek().is("{");
        if defined {
            self.nested(|parser| parser.record_body(id, tag.as_ref().unwrap_or(&keyword)))?;
        } else if tag.is_none() {
            let token = self.peek().clone();
            return Err(self.unexpected(&token, "after `struct`, `union` or `enum`"));
        }
        Ok((id, defined, tag.is_some()))
    }

    /// The enum that `enum TAG` or `enum { ... }` names, and whether it is defined here.
    fn enum_specifier(&mut self) -> Result<(usize, bool)> {
        let keyword = self.next();
        self.decorations()?;
        if self.peek().is("class") || self.peek().is("struct") {
            let token = self.peek().clone();
            return Err(self.unexpected(&token, "after `enum`: scoped enums are not supported"));
        }
        let tag = (self.peek().kind == Kind::Word).then(|| self.next());
        if self.peek().is(":") {
            let token = self.peek().clone();
            return Err(self.unexpected(&token, "after `enum`: underlying types are not supported"));
        }
        let id = self.enum_id(&keyword, tag.as_ref())?;
        let defined = self.peek().is("{");
        if defined {
            self.enum_body(id, tag.as_ref().unwrap_or(&keyword))?;
        } else if tag.is_none() {
            let token = self.peek().clone();
            return Err(self.unexpected(&token, "after `struct`, `union` or `enum`"));
        }
        Ok((id, defined))
    }
}

/// Whether a word has a meaning of its own in declarations.
pub(crate) fn is_reserved(text: &str) -> bool {
    const OTHERS: &[&str] = &[
        "struct",
        "union",
        "enum",
        "typedef",
        "extern",
        "static",
        "inline",
        "const",
        "volatile",
        "signed",
        "unsigned",
        "long",
        "sizeof",
        "static_assert",
        "_Static_assert",
        "__declspec",
        "__attribute__",
    ];
    basic_word(text).is_some()
        || OTHERS.contains(&text)
        || UNSUPPORTED.contains(&text)
        || CALLING_CONVENTIONS.contains(&text)
}

fn basic_word(text: &str) -> Option<&'static str> {
    Some(match text {
        "void" => "void",
        "bool" | "_Bool" => "bool",
        "char" => "char",
        "wchar_t" | "__wchar_t" => "wchar_t",
        "short" | "__int16" => "short",
        "int" | "__int32" => "int",
        "float" => "float",
        "double" => "double",
        "__int8" => "__int8",
        "__int64" => "__int64",
        _ => return None,
    })
}

impl Words {
    fn any(&self) -> bool {
        self.base.is_some() || self.long > 0 || self.signed || self.unsigned
    }

    /// Takes a word of a basic type; false when it is none or cannot be one here.
    fn take(&mut self, text: &str, have_type: bool) -> bool {
        if have_type {
            return false;
        }
        match text {
            "long" => self.long += 1,
            "signed" | "__signed" => self.signed = true,
            "unsigned" => self.unsigned = true,
            _ => {
                let Some(word) = basic_word(text) else {
                    return false;
                };
                self.base = Some(match (self.base, word) {
                    (None, word) => word,
                    // `short int` is `short`, in either order.
                    (Some("int"), "short") | (Some("short"), "int") => "short",
                    _ => "conflict",
                });
            }
        }
        true
    }

    fn basic(&self) -> Option<Basic> {
        if self.signed && self.unsigned {
            return None;
        }
        let plain = !self.signed && !self.unsigned;
        let pick = |signed, unsigned| Some(if self.unsigned { unsigned } else { signed });
        match (self.base, self.long) {
            (None | Some("int"), 0) => pick(Basic::Int, Basic::UnsignedInt),
            (None | Some("int"), 1) => pick(Basic::Long, Basic::UnsignedLong),
            (None | Some("int"), 2) | (Some("__int64"), 0) => pick(Basic::LongLong, Basic::UnsignedLongLong),
            (Some("short"), 0) => pick(Basic::Short, Basic::UnsignedShort),
            (Some("char"), 0) if plain => Some(Basic::Char),
            (Some("__int8"), 0) if plain => Some(Basic::Char),
            (Some("char" | "__int8"), 0) => pick(Basic::SignedChar, Basic::UnsignedChar),
            (Some("void"), 0) if plain => Some(Basic::Void),
            (Some("bool"), 0) if plain => Some(Basic::Bool),
            (Some("wchar_t"), 0) if plain => Some(Basic::WideChar),
            (Some("float"), 0) if plain => Some(Basic::Float),
            (Some("double"), 0) if plain => Some(Basic::Double),
            _ => None,
        }
    }
}
