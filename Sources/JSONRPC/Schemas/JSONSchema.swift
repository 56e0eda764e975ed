import StrictJSON
package import UTF8Text

/// A JSON Schema (draft-07), limited to the keywords that describe Hearth's parameters and results.
package struct JSONSchema: Sendable {
    /// A member of an object.
    package struct Property: Sendable {
        package let name: UTF8Key
        package let schema: JSONSchema
        package let description: String
        package let isRequired: Bool

        package init(_ name: UTF8Key, _ schema: JSONSchema, _ description: String, isRequired: Bool = true) {
            self.name = name
            self.schema = schema
            self.description = description
            self.isRequired = isRequired
        }
    }

    /// A named schema that is written once and referenced wherever it is used.
    struct Component: Sendable {
        let name: UTF8Key
        let owner: ObjectIdentifier
        let definition: @Sendable () -> JSONSchema
    }

    fileprivate enum Keyword: Sendable {
        case boolean(Bool)
        case integer(Int)
        case string(String)
        case strings([String])
        case schema(JSONSchema)
        case schemas([JSONSchema])
        case properties([Property])
        case reference(Component)
    }

    private var keywords: [(name: UTF8Key, value: Keyword)]

    private init(keywords: [(name: UTF8Key, value: Keyword)]) {
        self.keywords = keywords
    }

    private init(type: String) {
        self.init(keywords: [("type", .string(type))])
    }

    private mutating func set(_ name: UTF8Key, _ value: Keyword?) {
        if let value {
            keywords.append((name, value))
        }
    }
}

extension JSONSchema {
    /// Any JSON value.
    package static var any: JSONSchema {
        JSONSchema(keywords: [])
    }

    package static var boolean: JSONSchema {
        JSONSchema(type: "boolean")
    }

    /// A number, integral or not.
    package static var number: JSONSchema {
        JSONSchema(type: "number")
    }

    /// A string.
    ///
    /// - Parameters:
    ///   - format: A JSON Schema format, such as `date-time`.
    ///   - pattern: A regular expression in ECMA-262 syntax.
    ///   - values: The allowed values.
    package static func string(format: String? = nil, pattern: String? = nil, values: [String]? = nil) -> JSONSchema {
        var schema = JSONSchema(type: "string")
        schema.set("format", format.map { .string($0) })
        schema.set("pattern", pattern.map { .string($0) })
        schema.set("enum", values.map { .strings($0) })
        return schema
    }

    package static func integer(minimum: Int? = nil, maximum: Int? = nil) -> JSONSchema {
        var schema = JSONSchema(type: "integer")
        schema.set("minimum", minimum.map { .integer($0) })
        schema.set("maximum", maximum.map { .integer($0) })
        return schema
    }

    package static func array(of element: JSONSchema) -> JSONSchema {
        var schema = JSONSchema(type: "array")
        schema.set("items", .schema(element))
        return schema
    }

    /// An object with exactly these members.
    package static func object(_ properties: [Property]) -> JSONSchema {
        var schema = JSONSchema(type: "object")
        schema.set("properties", .properties(properties))
        let required = properties.filter(\.isRequired).map(\.name.string)
        schema.set("required", required.isEmpty ? nil : .strings(required))
        schema.set("additionalProperties", .boolean(false))
        return schema
    }

    /// An object with arbitrary member names and values of one schema.
    package static func map(of value: JSONSchema) -> JSONSchema {
        var schema = JSONSchema(type: "object")
        schema.set("additionalProperties", .schema(value))
        return schema
    }

    /// Exactly one of several schemas.
    package static func oneOf(_ schemas: [JSONSchema]) -> JSONSchema {
        JSONSchema(keywords: [("oneOf", .schemas(schemas))])
    }

    /// A reference to a schema in the document's `components`, which may be recursive.
    ///
    /// - Parameters:
    ///   - name: ASCII letters and digits.
    ///   - owner: The type that the schema describes; two types must not share a name.
    ///   - definition: Returns the schema.
    package static func component(
        _ name: String,
        of owner: Any.Type,
        _ definition: @escaping @Sendable () -> JSONSchema
    ) -> JSONSchema {
        let component = Component(name: UTF8Key(name), owner: ObjectIdentifier(owner), definition: definition)
        return JSONSchema(keywords: [("$ref", .reference(component))])
    }

    /// Returns the schema with a `description`.
    package func described(_ description: String) -> JSONSchema {
        // In draft-07, keywords next to `$ref` are ignored.
        let isReference = keywords.contains { $0.name == "$ref" }
        var schema = isReference ? JSONSchema(keywords: [("allOf", .schemas([self]))]) : self
        schema.set("description", .string(description))
        return schema
    }
}

extension JSONSchema {
    /// Writes the schema, and adds the components that it references to `components`.
    func write(to writer: inout JSONWriter, components: inout SchemaComponents) {
        writer.beginObject()
        for (name, value) in keywords {
            writer.key(name)
            value.write(to: &writer, components: &components)
        }
        writer.endObject()
    }
}

extension JSONSchema.Keyword {
    fileprivate func write(to writer: inout JSONWriter, components: inout SchemaComponents) {
        switch self {
        case .boolean(let boolean): writer.boolean(boolean)
        case .integer(let integer): writer.integer(Int64(integer))
        case .string(let string): writer.string(string)
        case .strings(let strings):
            writer.beginArray()
            for string in strings {
                writer.string(string)
            }
            writer.endArray()
        case .schema(let schema): schema.write(to: &writer, components: &components)
        case .schemas(let schemas):
            writer.beginArray()
            for schema in schemas {
                schema.write(to: &writer, components: &components)
            }
            writer.endArray()
        case .properties(let properties):
            writer.beginObject()
            for property in properties {
                writer.key(property.name)
                property.schema.described(property.description).write(to: &writer, components: &components)
            }
            writer.endObject()
        case .reference(let component): writer.string(components.reference(to: component))
        }
    }
}
