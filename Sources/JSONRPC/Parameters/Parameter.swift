package import UTF8Text

/// A type-erased parameter declaration: enough to describe it and to match names and positions.
package protocol ParameterDescription: Sendable {
    var name: UTF8Key { get }
    /// One sentence for the documentation.
    var description: String { get }
    var isRequired: Bool { get }
    var schema: JSONSchema { get }
}

/// The declaration of a method parameter, or of a member of an object parameter: its name, type and description.
///
/// A parameter is optional if and only if its type is. Decoding, the OpenRPC document and the documentation all derive from the
/// declaration:
///
/// ```swift
/// static let path = Parameter<DocumentPath>("path", "The document to read.")
/// static let mask = Parameter<[FieldPath]?>("mask", "The fields to return; all when absent.")
/// ```
package struct Parameter<Value: ParameterValue>: ParameterDescription {
    package let name: UTF8Key
    package let description: String

    package init(_ name: UTF8Key, _ description: String) {
        self.name = name
        self.description = description
    }

    package var isRequired: Bool {
        Value.defaultValue == nil
    }

    package var schema: JSONSchema {
        Value.schema
    }
}

extension JSONSchema.Property {
    /// Creates the member of an object that a parameter describes.
    package init(_ parameter: any ParameterDescription) {
        self.init(parameter.name, parameter.schema, parameter.description, isRequired: parameter.isRequired)
    }
}
