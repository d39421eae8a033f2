//! A JSON Schema checker for the words our schemas use; any other word fails, so that nothing in
//! a schema goes unchecked.

use serde_json::{Map, Value};

/// Checks `value` against `schema`; what is wrong, with its place.
pub fn check(schema: &Value, value: &Value) -> Result<(), String> {
    at(schema, schema, value, "$")
}

fn at(root: &Value, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let Value::Object(words) = schema else {
        return Err(format!("{place}: the schema is no object"));
    };
    let fail = |what: String| Err(format!("{place}: {what}, found {value}"));
    for (word, rule) in words {
        match word.as_str() {
            "$schema" | "$id" | "title" | "description" | "$defs" => {}
            "$ref" => {
                let path = rule.as_str().and_then(|r| r.strip_prefix('#')).unwrap();
                at(root, root.pointer(path).unwrap(), value, place)?;
            }
            "type" => {
                let is = match rule.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "number" => value.is_number(),
                    other => panic!("type {other} is not known here"),
                };
                if !is {
                    return fail(format!("expected {rule}"));
                }
            }
            "const" if value != rule => return fail(format!("expected {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => {
                return fail(format!("expected one of {rule}"));
            }
            "const" | "enum" => {}
            "minimum" if value.as_f64() < rule.as_f64() => {
                return fail(format!("expected at least {rule}"));
            }
            "maximum" if value.as_f64() > rule.as_f64() => {
                return fail(format!("expected at most {rule}"));
            }
            "minimum" | "maximum" => {}
            "required" => {
                for name in rule.as_array().unwrap() {
                    if value.get(name.as_str().unwrap()).is_none() {
                        return fail(format!("{name} is missing"));
                    }
                }
            }
            "properties" | "additionalProperties" => {}
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    at(root, rule, item, &format!("{place}[{i}]"))?;
                }
            }
            other => panic!("{place}: the word {other} is not known here"),
        }
    }
    members(root, words, value, place)
}

fn members(
    root: &Value,
    words: &Map<String, Value>,
    value: &Value,
    place: &str,
) -> Result<(), String> {
    let nothing = Map::new();
    let properties = words
        .get("properties")
        .map_or(&nothing, |p| p.as_object().unwrap());
    for (name, member) in value.as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        match (properties.get(name), words.get("additionalProperties")) {
            (Some(schema), _) => at(root, schema, member, &place)?,
            (None, Some(Value::Bool(false))) => return Err(format!("{place}: not expected")),
            (None, Some(schema @ Value::Object(_))) => at(root, schema, member, &place)?,
            (None, _) => {}
        }
    }
    Ok(())
}
