/// A property that is the document's id, and not one of its fields.
///
/// ```swift
/// struct Book: Codable {
///     @DocumentID var id: String?
///     var title: String
/// }
/// ```
///
/// It is set when a document is decoded, also in types inside the document's own, and left out when one is encoded. A field of
/// the same name in the document is not looked at. Other coders than Firestore's refuse it.
@propertyWrapper
public struct DocumentID<Value: DocumentIDWrappable & Codable> {
    /// The id; nil in a value that was not decoded from a document.
    public var wrappedValue: Value?

    /// Makes a property with an id, or none.
    public init(wrappedValue value: Value?) {
        wrappedValue = value
    }
}

/// What a `@DocumentID` can be: a `String` or a ``DocumentReference``.
public protocol DocumentIDWrappable {
    /// Makes a value of the document's reference.
    static func wrap(_ documentReference: DocumentReference) throws -> Self
}

extension String: DocumentIDWrappable {
    /// The document's id.
    public static func wrap(_ documentReference: DocumentReference) throws -> String {
        documentReference.documentID
    }
}

extension DocumentReference: DocumentIDWrappable {
    /// The reference itself.
    public static func wrap(_ documentReference: DocumentReference) throws -> DocumentReference {
        documentReference
    }
}

/// Marks the types that are decoded without a field.
protocol DocumentIDProtocol {}

extension DocumentID: DocumentIDProtocol {}

extension DocumentID: Codable {
    /// Takes the id from the document that is decoded.
    public init(from decoder: any Swift.Decoder) throws {
        let node = decoder as? DecodingNode
        guard let reference = node?.session.document ?? decoder.userInfo[.documentReference] as? DocumentReference else {
            throw FirestoreDecodingError.decodingIsNotSupported(
                "DocumentID values can only be decoded by Firestore.Decoder, and from a document."
            )
        }
        wrappedValue = try Value.wrap(reference)
    }

    /// Leaves the id out.
    public func encode(to encoder: any Swift.Encoder) throws {
        guard let node = encoder as? EncodingNode else {
            throw FirestoreEncodingError.encodingIsNotSupported("DocumentID values can only be encoded by Firestore.Encoder.")
        }
        try node.becomeDocumentID()
    }
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}
extension DocumentID: Sendable where Value: Sendable {}
