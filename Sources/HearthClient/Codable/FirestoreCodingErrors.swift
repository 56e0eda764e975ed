/// Why a type of Firestore can't be decoded.
public enum FirestoreDecodingError: Error, Sendable {
    /// Only ``Firestore/Decoder`` can do it; the text says more.
    case decodingIsNotSupported(String)
    /// Two properties claim the same field.
    case fieldNameConflict(String)
}

/// Why a type of Firestore can't be encoded.
public enum FirestoreEncodingError: Error, Sendable {
    /// Only ``Firestore/Encoder`` can do it, or it can't be done there; the text says more.
    case encodingIsNotSupported(String)
}
