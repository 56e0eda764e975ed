/// A property wrapper for the document ID, which is not stored as a field.
///
/// ```swift
/// struct Book: Codable {
///     @DocumentID var id: String?
///     var title: String
/// }
/// ```
///
/// The property is set when a document is decoded, even in nested types, and omitted when a value is encoded. A field with the
/// same name in the document is ignored. Only ``Firestore/Encoder`` and ``Firestore/Decoder`` support it.
@propertyWrapper
public struct DocumentID<Value: DocumentIDWrappable & Codable> {
    /// The document ID; `nil` in a value that was not decoded from a document.
    public var wrappedValue: Value?

    /// Creates a property with an ID, or without one.
    public init(wrappedValue value: Value?) {
        wrappedValue = value
    }
}

/// A type that a `@DocumentID` property can have: `String` or ``DocumentReference``.
public protocol DocumentIDWrappable {
    /// Returns the value for a document reference.
    static func wrap(_ documentReference: DocumentReference) throws -> Self
}

extension String: DocumentIDWrappable {
    /// Returns the ID of the document.
    public static func wrap(_ documentReference: DocumentReference) throws -> String {
        documentReference.documentID
    }
}

extension DocumentReference: DocumentIDWrappable {
    /// Returns the reference.
    public static func wrap(_ documentReference: DocumentReference) throws -> DocumentReference {
        documentReference
    }
}

/// Marks the property wrapper that is decoded without a field.
protocol DocumentIDProtocol {}

extension DocumentID: DocumentIDProtocol {}

extension DocumentID: Codable {
    /// Takes the ID from the document being decoded.
    public init(from decoder: any Swift.Decoder) throws {
        let node = decoder as? DecodingNode
        guard let reference = node?.session.document ?? decoder.userInfo[.documentReference] as? DocumentReference else {
            throw FirestoreDecodingError.decodingIsNotSupported(
                "DocumentID values can only be decoded from a document with Firestore.Decoder."
            )
        }
        wrappedValue = try Value.wrap(reference)
    }

    /// Omits the ID.
    public func encode(to encoder: any Swift.Encoder) throws {
        guard let node = encoder as? EncodingNode else {
            throw FirestoreEncodingError.encodingIsNotSupported("DocumentID values can only be encoded by Firestore.Encoder.")
        }
        try node.omitDocumentID()
    }
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}
extension DocumentID: Sendable where Value: Sendable {}
