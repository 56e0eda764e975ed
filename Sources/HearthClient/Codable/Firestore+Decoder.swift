internal import DocumentModel

extension Firestore {
    /// Decodes document data to `Decodable` types, the inverse of ``Firestore/Encoder``.
    public class Decoder {
        /// The strategy for `Date` values. The default is `.timestamp`.
        public var dateDecodingStrategy = FirebaseDataDecoder.DateDecodingStrategy.timestamp
        /// The strategy for `Data` values. The default is `.blob`.
        public var dataDecodingStrategy = FirebaseDataDecoder.DataDecodingStrategy.blob
        /// The strategy for NaN and infinity in strings. The default is `.throw`.
        public var nonConformingFloatDecodingStrategy = FirebaseDataDecoder.NonConformingFloatDecodingStrategy.throw
        /// The strategy for coding keys. The default is `.useDefaultKeys`.
        public var keyDecodingStrategy = FirebaseDataDecoder.KeyDecodingStrategy.useDefaultKeys
        /// Contextual information passed to the `Decodable` types.
        public var userInfo: [CodingUserInfoKey: Any] = [:]

        /// Creates a decoder with the default strategies.
        public init() {}

        /// Decodes data in the form returned by ``DocumentSnapshot/data()``.
        ///
        /// - Parameters:
        ///   - data: A dictionary, or any value that a document can contain.
        ///   - reference: The document that the data belongs to, for `@DocumentID`. Later calls without a reference use it too.
        /// - Throws: A `DecodingError` with the coding path of the mismatch, and the document path in its description.
        public func decode<T: Decodable>(_ type: T.Type, from data: Any, in reference: DocumentReference?) throws -> T {
            if let reference { userInfo[.documentReference] = reference }
            return try decode(type, from: data)
        }

        /// Decodes data in the form returned by ``DocumentSnapshot/data()``.
        public func decode<T: Decodable>(_ type: T.Type, from data: Any) throws -> T {
            var reader = UserDataReader(allowsSentinels: false)
            let document = userInfo[.documentReference] as? DocumentReference
            let value: Value
            do {
                value = try reader.value(data)
            } catch {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: error.message, underlyingError: FirestoreError(error))
                )
            }
            return try decode(type, from: value, of: document, in: document?.firestore ?? reader.databases.first)
        }

        package func decode<T: Decodable>(
            _ type: T.Type,
            from value: Value,
            of document: DocumentReference?,
            in firestore: Firestore?
        ) throws -> T {
            let strategies = DecodingSession.Strategies(
                date: dateDecodingStrategy,
                data: dataDecodingStrategy,
                float: nonConformingFloatDecodingStrategy,
                key: keyDecodingStrategy
            )
            let session = DecodingSession(strategies, userInfo: userInfo, document: document, firestore: firestore)
            return try session.decode(type, from: value)
        }
    }
}

extension CodingUserInfoKey {
    /// The document being decoded.
    static let documentReference: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "HearthDocumentReference") else {
            preconditionFailure("Every string is a valid user info key.")
        }
        return key
    }()
}
