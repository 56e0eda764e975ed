internal import DocumentModel

extension Firestore {
    /// Makes a value of a document's data: the way back of ``Firestore/Encoder``.
    public class Decoder {
        /// How a `Date` is read; from a timestamp unless it is said otherwise.
        public var dateDecodingStrategy = FirebaseDataDecoder.DateDecodingStrategy.timestamp
        /// How a `Data` is read; from bytes or base64 unless it is said otherwise.
        public var dataDecodingStrategy = FirebaseDataDecoder.DataDecodingStrategy.blob
        /// Which strings stand for NaN and the infinities; none unless it is said otherwise.
        public var nonConformingFloatDecodingStrategy = FirebaseDataDecoder.NonConformingFloatDecodingStrategy.throw
        /// How coding keys are made of the names of fields; they are the names unless it is said otherwise.
        public var keyDecodingStrategy = FirebaseDataDecoder.KeyDecodingStrategy.useDefaultKeys
        /// What decoded types find in the `userInfo` of the decoder that they are given.
        public var userInfo: [CodingUserInfoKey: Any] = [:]

        /// Makes a decoder with the usual strategies.
        public init() {}

        /// Decodes data as ``DocumentSnapshot/data()`` gives them.
        ///
        /// - Parameters:
        ///   - data: A dictionary, or any value that can be in one.
        ///   - reference: The document that the data are of, for `@DocumentID`. It is kept for later calls without one.
        /// - Throws: `DecodingError` with the coding path of what does not fit, and the document's path in its description.
        public func decode<T: Decodable>(_ type: T.Type, from data: Any, in reference: DocumentReference?) throws -> T {
            if let reference { userInfo[.documentReference] = reference }
            return try decode(type, from: data)
        }

        /// Decodes data as ``DocumentSnapshot/data()`` gives them.
        public func decode<T: Decodable>(_ type: T.Type, from data: Any) throws -> T {
            var reader = DictionaryReader(permitsSentinels: false)
            let document = userInfo[.documentReference] as? DocumentReference
            let value: Value
            do {
                value = try reader.value(data)
            } catch {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: error.message, underlyingError: FirestoreError(error))
                )
            }
            return try decode(type, from: value, of: document, in: document?.firestore ?? reader.origins.first)
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
    /// The document that is being decoded.
    static let documentReference: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "HearthDocumentReference") else {
            preconditionFailure("Every string is a key of the user info.")
        }
        return key
    }()
}
