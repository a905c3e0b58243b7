//! Just enough of the server's types for declarations to compile.
#![allow(dead_code)]

pub mod tier {
    #[derive(Debug, PartialEq)]
    pub enum Tier {
        Read,
        State,
        Destructive,
    }
    pub struct Read;
    pub struct State;
    pub struct Destructive;
}

pub mod tool {
    use std::pin::Pin;

    pub struct Schema;
    pub enum SchemaSource {
        Rust(fn() -> Schema),
    }
    pub struct Hints {
        pub idempotent: bool,
        pub open_world: bool,
    }
    pub struct ToolSpec {
        pub name: &'static str,
        pub title: &'static str,
        pub description: &'static str,
        pub group: &'static str,
        pub tier: crate::tier::Tier,
        pub default: bool,
        pub hints: Hints,
        pub input_schema: SchemaSource,
        pub output_schema: SchemaSource,
        pub functions: &'static [&'static str],
    }
    pub struct Arguments;
    impl Arguments {
        pub fn typed<T: Default>(self) -> Result<T, String> {
            Ok(T::default())
        }
    }
    pub struct Host;
    pub struct Cx<T>(std::marker::PhantomData<T>);
    impl<T> Cx<T> {
        pub fn new(_: Host) -> Self {
            Self(std::marker::PhantomData)
        }
    }
    pub type Future = Pin<Box<dyn std::future::Future<Output = Result<u32, String>> + Send>>;
    pub struct Tool {
        pub spec: &'static ToolSpec,
        pub run: fn(Host, Arguments) -> Future,
    }
    pub mod typed {
        pub fn input_schema<T>() -> super::Schema {
            super::Schema
        }
        pub fn output_schema<T>() -> super::Schema {
            super::Schema
        }
        pub fn answer(result: Result<u32, String>) -> Result<u32, String> {
            result
        }
    }
}
