//! A portable schema, read once into the form in which values are checked against it.

use regex_lite::Regex;
use serde_json::{Map, Value};

/// What a value must look like.
#[derive(Debug)]
pub enum Shape {
    /// Text.
    String {
        /// Its form.
        pattern: Option<Regex>,
        /// Characters at least and at most.
        length: (Option<u64>, Option<u64>),
        /// The values there are; any when empty.
        values: Vec<String>,
    },
    /// A whole number.
    Integer {
        /// Lowest and highest.
        range: (Option<i64>, Option<i64>),
    },
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    Array {
        /// Of these.
        items: Box<Shape>,
        /// Elements at least and at most.
        length: (Option<u64>, Option<u64>),
    },
    /// Named values.
    Object(Vec<Property>),
}

/// One property of an object.
#[derive(Debug)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
}

impl Shape {
    /// The shape that a portable schema describes.
    pub fn of(schema: &Map<String, Value>) -> Result<Self, String> {
        let count = |key| schema.get(key).and_then(Value::as_u64);
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Ok(Self::String {
                pattern: schema
                    .get("pattern")
                    .and_then(Value::as_str)
                    .map(Regex::new)
                    .transpose()
                    .map_err(|error| error.to_string())?,
                length: (count("minLength"), count("maxLength")),
                values: schema
                    .get("enum")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(|value| value.as_str().map(str::to_owned))
                    .collect(),
            }),
            Some("integer") => {
                let bound = |key| schema.get(key).and_then(Value::as_i64);
                Ok(Self::Integer {
                    range: (bound("minimum"), bound("maximum")),
                })
            }
            Some("number") => Ok(Self::Number),
            Some("boolean") => Ok(Self::Boolean),
            Some("array") => {
                let items = schema
                    .get("items")
                    .and_then(Value::as_object)
                    .ok_or("an array without items")?;
                Ok(Self::Array {
                    items: Box::new(Self::of(items)?),
                    length: (count("minItems"), count("maxItems")),
                })
            }
            Some("object") => Self::object(schema),
            other => Err(format!("type {other:?} is not known")),
        }
    }

    fn object(schema: &Map<String, Value>) -> Result<Self, String> {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, property)| {
                let property = property.as_object().ok_or("a property without schema")?;
                Ok(Property {
                    name: name.clone(),
                    shape: Self::of(property)?,
                    required: required.contains(&name.as_str()),
                })
            })
            .collect::<Result<_, String>>()
            .map(Self::Object)
    }

    /// The shape of an object's property.
    pub fn property(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(properties) => properties
                .iter()
                .find(|property| property.name == name)
                .map(|property| &property.shape),
            _ => None,
        }
    }

    /// Whether a text of this shape can hold words that someone else chose.
    pub fn is_free_text(&self) -> bool {
        matches!(self, Self::String { pattern: None, values, .. } if values.is_empty())
    }
}
