internal import DocumentModel

extension Firestore {
    /// Encodes `Encodable` types to document data.
    ///
    /// A property becomes a field named by its coding key; `nil` properties are omitted. `Date` is encoded as a timestamp, `URL`
    /// as a string and `Data` as bytes, unless a strategy specifies otherwise. ``GeoPoint``, ``Timestamp``,
    /// ``DocumentReference``, ``FieldValue`` and ``VectorValue`` have native representations.
    public class Encoder {
        /// The strategy for `Date` values. The default is `.timestamp`.
        public var dateEncodingStrategy = FirebaseDataEncoder.DateEncodingStrategy.timestamp
        /// The strategy for `Data` values. The default is `.blob`.
        public var dataEncodingStrategy = FirebaseDataEncoder.DataEncodingStrategy.blob
        /// The strategy for NaN and infinity. The default is `.throw`.
        public var nonConformingFloatEncodingStrategy = FirebaseDataEncoder.NonConformingFloatEncodingStrategy.throw
        /// The strategy for field names. The default is `.useDefaultKeys`.
        public var keyEncodingStrategy = FirebaseDataEncoder.KeyEncodingStrategy.useDefaultKeys
        /// Contextual information passed to the `Encodable` types.
        public var userInfo: [CodingUserInfoKey: Any] = [:]

        /// Creates an encoder with the default strategies.
        public init() {}

        /// Encodes a value as document data.
        ///
        /// - Throws: `EncodingError.invalidValue`, with its coding path, for a value that a document cannot contain, and if
        ///   `value` itself isn't encoded as a map; errors of the types' own `encode(to:)`.
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
