package import StrictJSON

/// What is known of a parameter without its type: enough to describe it and to match names and positions.
package protocol ParameterDescription: Sendable {
    var name: UTF8Key { get }
    /// One sentence for the documentation.
    var description: String { get }
    var isRequired: Bool { get }
    var schema: JSONSchema { get }
}

/// The one declaration of a parameter of a method, or of a member of an object parameter: its name, type and description.
///
/// A type `T?` makes it optional, which is all that makes it so. Decoding, the OpenRPC document and the documentation
/// follow from the declaration:
///
/// ```swift
/// static let path = Parameter<DocumentPath>("path", "The document to read.")
/// static let mask = Parameter<[FieldPath]?>("mask", "Only these fields; all of them when absent.")
/// ```
package struct Parameter<Value: ParameterValue>: ParameterDescription {
    package let name: UTF8Key
    package let description: String

    package init(_ name: UTF8Key, _ description: String) {
        self.name = name
        self.description = description
    }

    package var isRequired: Bool {
        Value.whenAbsent == nil
    }

    package var schema: JSONSchema {
        Value.schema
    }
}
