internal import DocumentModel
internal import StrictJSON

/// What all nodes of one encoding share.
final class EncodingSession {
    let strategies: Strategies
    let userInfo: [CodingUserInfoKey: Any]
    /// The places whose values the server is to fill in.
    private(set) var sentinels: [(path: FieldPath, value: FieldValue)] = []
    /// What the references belong to.
    private var origins: [Firestore] = []

    struct Strategies {
        var date = FirebaseDataEncoder.DateEncodingStrategy.timestamp
        var data = FirebaseDataEncoder.DataEncodingStrategy.blob
        var float = FirebaseDataEncoder.NonConformingFloatEncodingStrategy.throw
        var key = FirebaseDataEncoder.KeyEncodingStrategy.useDefaultKeys

        var convertsKeys: Bool {
            if case .useDefaultKeys = key { false } else { true }
        }
    }

    init(_ strategies: Strategies, userInfo: [CodingUserInfoKey: Any]) {
        self.strategies = strategies
        self.userInfo = userInfo
    }

    /// Encodes the fields of a document.
    func encode(_ value: some Encodable) throws -> DocumentData {
        let root = EncodingNode(self)
        guard case .map(let fields)? = try root.value(of: value, at: nil, named: nil) else {
            throw EncodingError.invalidValue(
                value,
                .init(
                    codingPath: [],
                    debugDescription: "Top-level \(type(of: value)) is not allowed: a document is made of a type with properties."
                )
            )
        }
        return DocumentData(fields: fields, sentinels: sentinels, origins: origins)
    }

    func note(_ value: FieldValue, at path: FieldPath) {
        sentinels.append((path, value))
        origins.add(value.origins)
    }

    func value(_ reference: DocumentReference) -> Value {
        origins.add([reference.firestore])
        return .reference(reference.documentPath)
    }
}
