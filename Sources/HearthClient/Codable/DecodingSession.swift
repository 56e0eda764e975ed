internal import DocumentModel
internal import StrictJSON

/// What all nodes of one decoding share.
final class DecodingSession {
    let strategies: Strategies
    private let ownUserInfo: [CodingUserInfoKey: Any]
    /// The document that is decoded.
    let document: DocumentReference?
    /// What the references in the document belong to.
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
        self.ownUserInfo = userInfo
        self.document = document
        self.firestore = firestore
    }

    /// The user's own, and the document.
    var userInfo: [CodingUserInfoKey: Any] {
        guard let document else { return ownUserInfo }
        return ownUserInfo.merging([.documentReference: document]) { $1 }
    }

    /// Decodes a document, or any value.
    ///
    /// - Throws: A `DecodingError` whose description names the document.
    func decode<T: Decodable>(_ type: T.Type, from value: Value) throws -> T {
        do {
            return try DecodingNode(value, session: self).decodeItself(type)
        } catch let error as DecodingError {
            throw document.map { error.inDocument(at: $0.path) } ?? error
        }
    }
}

extension DecodingError {
    /// The same error with the document's path in its description.
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
