internal import DocumentModel

extension Firestore {
    /// Makes a document's data of a value.
    ///
    /// A property becomes a field of the name that its coding key has; what is nil is left out. `Date` becomes a timestamp,
    /// `URL` a string, `Data` bytes; ``GeoPoint``, ``Timestamp``, ``DocumentReference``, ``FieldValue`` and ``VectorValue`` stay
    /// what they are. The strategies say what else can be done.
    public class Encoder {
        /// How a `Date` is written; as a timestamp unless it is said otherwise.
        public var dateEncodingStrategy = FirebaseDataEncoder.DateEncodingStrategy.timestamp
        /// How a `Data` is written; as bytes unless it is said otherwise.
        public var dataEncodingStrategy = FirebaseDataEncoder.DataEncodingStrategy.blob
        /// What becomes of NaN and the infinities; they are refused unless it is said otherwise.
        public var nonConformingFloatEncodingStrategy = FirebaseDataEncoder.NonConformingFloatEncodingStrategy.throw
        /// How the names of fields are made; they are the coding keys unless it is said otherwise.
        public var keyEncodingStrategy = FirebaseDataEncoder.KeyEncodingStrategy.useDefaultKeys
        /// What encoded types find in the `userInfo` of the encoder that they are given.
        public var userInfo: [CodingUserInfoKey: Any] = [:]

        /// Makes an encoder with the usual strategies.
        public init() {}

        /// Encodes the data of a document.
        ///
        /// - Throws: `EncodingError.invalidValue` for what can't be in a document, with its coding path, and for a value
        ///   that is no set of named values itself; what the types themselves throw.
        public func encode<T: Encodable>(_ value: T) throws -> [String: Any] {
            try documentData(value).dictionary
        }

        package func documentData(_ value: some Encodable) throws -> DocumentData {
            let strategies = EncodingSession.Strategies(
                date: dateEncodingStrategy,
                data: dataEncodingStrategy,
                float: nonConformingFloatEncodingStrategy,
                key: keyEncodingStrategy
            )
            return try EncodingSession(strategies, userInfo: userInfo).encode(value)
        }
    }
}
