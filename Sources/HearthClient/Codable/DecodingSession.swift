internal import DocumentModel

/// The state shared by all nodes of one decoding operation.
final class DecodingSession {
    let strategies: Strategies
    private let customUserInfo: [CodingUserInfoKey: Any]
    /// The document being decoded.
    let document: DocumentReference?
    /// The database of the references in the document.
    let firestore: Firestore?

    struct Strategies {
        var date = FirebaseDataDecoder.DateDecodingStrategy.timestamp
        var data = FirebaseDataDecoder.DataDecodingStrategy.blob
        var float = FirebaseDataDecoder.NonConformingFloatDecodingStrategy.throw
        var key = FirebaseDataDecoder.KeyDecodingStrategy.useDefaultKeys

        var convertsKeys: Bool {
            if case .useDefaultKeys = key { false } else { true }
        }
    }

    init(
        _ strategies: Strategies,
        userInfo: [CodingUserInfoKey: Any],
        document: DocumentReference?,
        firestore: Firestore?
    ) {
        self.strategies = strategies
        self.customUserInfo = userInfo
        self.document = document
        self.firestore = firestore
    }

    /// The custom user info, and the document reference.
    var userInfo: [CodingUserInfoKey: Any] {
        guard let document else { return customUserInfo }
        return customUserInfo.merging([.documentReference: document]) { $1 }
    }

    /// Decodes a document or any other value.
    ///
    /// - Throws: A `DecodingError` with the path of the document in its description.
    func decode<T: Decodable>(_ type: T.Type, from value: Value) throws -> T {
        do {
            return try DecodingNode(value, session: self).decodeCurrentValue(type)
        } catch let error as DecodingError {
            throw document.map { error.inDocument(at: $0.path) } ?? error
        }
    }
}

extension DecodingError {
    /// Returns the error with the document path appended to its description.
    fileprivate func inDocument(at path: String) -> DecodingError {
        func located(_ context: Context) -> Context {
            Context(
                codingPath: context.codingPath,
                debugDescription: "\(context.debugDescription) (document \(path))",
                underlyingError: context.underlyingError
            )
        }
        return switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, located(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, located(context))
        case .keyNotFound(let key, let context): .keyNotFound(key, located(context))
        case .dataCorrupted(let context): .dataCorrupted(located(context))
        @unknown default: self
        }
    }
}
