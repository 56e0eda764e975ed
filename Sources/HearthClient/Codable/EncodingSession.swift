internal import DocumentModel

/// The state shared by all nodes of one encoding operation.
final class EncodingSession {
    let strategies: Strategies
    let userInfo: [CodingUserInfoKey: Any]
    /// The sentinels found so far, with their field paths.
    private(set) var sentinels: [(path: FieldPath, value: FieldValue)] = []
    /// The databases of the encoded references.
    private var databases: [Firestore] = []

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
                    debugDescription: "Top-level \(type(of: value)) cannot be encoded: a document must be encoded as a map."
                )
            )
        }
        return DocumentData(fields: fields, sentinels: sentinels, databases: databases)
    }

    func recordSentinel(_ value: FieldValue, at path: FieldPath) {
        sentinels.append((path, value))
        databases.formUnion(value.databases)
    }

    func value(_ reference: DocumentReference) -> Value {
        databases.formUnion([reference.firestore])
        return .reference(reference.documentPath)
    }
}
