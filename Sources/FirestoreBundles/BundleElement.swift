internal import DocumentModel
internal import FirestoreMessages
internal import StrictJSON
internal import SyncEngine
internal import UTF8Text

/// An element of a bundle.
enum BundleElement {
    case metadata(BundleMetadata)
    case namedQuery(BundledQuery)
    case documentMetadata(DocumentMetadata)
    case document(RemoteDocument)

    private static let fields: [ProtoField] = ["metadata", "namedQuery", "documentMetadata", "document"]

    /// Decodes an element.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the location in the JSON.
    init(_ bytes: ArraySlice<UInt8>) throws(StatusError) {
        let root: JSONNode
        do throws(JSONSyntaxError) {
            root = try JSONText(Array(bytes), limits: .message).root
        } catch {
            throw StatusError(.invalidArgument, "Expected a JSON object: byte \(error.offset) of it, \(error.reason).")
        }
        let element = try ProtoMessage(root, fields: Self.fields).oneOf(
            ("metadata", { node throws(StatusError) in BundleElement.metadata(try BundleMetadata(node)) }),
            ("namedQuery", { node throws(StatusError) in BundleElement.namedQuery(try BundledQuery(node)) }),
            ("documentMetadata", { node throws(StatusError) in BundleElement.documentMetadata(try DocumentMetadata(node)) }),
            ("document", { node throws(StatusError) in BundleElement.document(try RemoteDocument(bundled: node)) })
        )
        guard let element else {
            throw StatusError(
                .invalidArgument,
                "Expected one of " + Self.fields.map(\.name.string).joined(separator: ", ") + ", found none."
            )
        }
        self = element
    }

    var isMetadata: Bool {
        if case .metadata = self { true } else { false }
    }

    /// The name of the element's member.
    var name: String {
        switch self {
        case .metadata: "metadata"
        case .namedQuery: "namedQuery"
        case .documentMetadata: "documentMetadata"
        case .document: "document"
        }
    }
}

/// The metadata of a document, before the document if that exists.
struct DocumentMetadata: Sendable {
    let path: DocumentPath
    let readTime: Timestamp
    let exists: Bool
    let queries: Set<UTF8Key>

    private static let fields: [ProtoField] = ["name", "readTime", "exists", "queries"]

    fileprivate init(_ node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        path = try message.require("name") { node throws(StatusError) in
            try ResourceName(node.stringField()).document()
        }
        readTime = try message.require("readTime") { node throws(StatusError) in try node.timestampField(.protobufJS) }
        exists = try message.read("exists") { node throws(StatusError) in try node.booleanField() } ?? false
        queries = Set(
            try message.repeated("queries") { node throws(StatusError) in UTF8Key(try node.stringField()) }
        )
    }
}

extension BundleMetadata {
    private static let fields: [ProtoField] = ["id", "createTime", "version", "totalDocuments", "totalBytes"]
    /// The only version of the format.
    private static let formatVersion: Int64 = 1

    fileprivate init(_ node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let version = try message.require("version") { node throws(StatusError) in try node.integerField() }
        guard version == Self.formatVersion else {
            throw StatusError(.invalidArgument, "Expected a bundle of version \(Self.formatVersion), found \(version).")
        }
        self.init(
            id: UTF8Key(try message.require("id") { node throws(StatusError) in try node.stringField() }),
            createTime: try message.require("createTime") { node throws(StatusError) in try node.timestampField(.protobufJS) },
            documentCount: Int(
                try message.read("totalDocuments") { node throws(StatusError) in try node.integerField() } ?? 0
            ),
            byteCount: Int(try message.read("totalBytes") { node throws(StatusError) in try node.integerField() } ?? 0)
        )
    }
}

extension BundledQuery {
    private static let fields: [ProtoField] = ["name", "bundledQuery", "readTime"]

    fileprivate init(_ node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let (view, definition) = try message.require("bundledQuery") { node throws(StatusError) in
            (try ViewQuery(StructuredQuery(bundled: node)), Array(node.rawBytes))
        }
        let named = NamedQuery(
            name: UTF8Key(try message.require("name") { node throws(StatusError) in try node.stringField() }),
            readTime: try message.require("readTime") { node throws(StatusError) in try node.timestampField(.protobufJS) },
            definition: definition
        )
        self.init(named, view: view)
    }
}

extension RemoteDocument {
    private static let fields: [ProtoField] = ["name", "fields", "createTime", "updateTime"]

    fileprivate init(bundled node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let name = try message.require("name") { node throws(StatusError) in try ResourceName(node.stringField()) }
        let path = try name.document()
        let fields = try message.read("fields") { node throws(StatusError) in
            try MapValue(fields: node, in: name.database, .protobufJS)
        }
        try Document.validate(fields ?? MapValue(), at: path)
        self.init(
            path: path,
            content: .found(
                fields ?? MapValue(),
                createTime: try message.read("createTime") { node throws(StatusError) in try node.timestampField(.protobufJS) }
            ),
            version: try message.require("updateTime") { node throws(StatusError) in try node.timestampField(.protobufJS) }
        )
    }
}
