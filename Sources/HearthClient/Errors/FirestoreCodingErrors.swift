/// An error decoding a Firestore type.
public enum FirestoreDecodingError: Error, Sendable {
    /// The type can only be decoded by ``Firestore/Decoder``.
    case decodingIsNotSupported(String)
    /// Two properties use the same field.
    case fieldNameConflict(String)
}

/// An error encoding a Firestore type.
public enum FirestoreEncodingError: Error, Sendable {
    /// The type can only be encoded by ``Firestore/Encoder``, or is not allowed at this position.
    case encodingIsNotSupported(String)
}
