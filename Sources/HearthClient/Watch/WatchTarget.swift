public import DocumentModel
package import StrictJSON
internal import UTF8Text

/// The target of a watch stream.
public struct WatchTarget: Hashable, Sendable {
    /// The name and JSON value of the `/watch` parameter that specifies the target.
    private let name: UTF8Key
    private let value: [UInt8]

    private init(_ name: UTF8Key, _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        self.name = name
        value = writer.finish()
    }

    /// Returns a document target. The document need not exist.
    public static func document(_ path: DocumentPath) -> WatchTarget {
        WatchTarget("document") { $0.string(path.string) }
    }

    /// Returns a target for the documents of a collection, without subcollections.
    public static func collection(_ path: CollectionPath) -> WatchTarget {
        WatchTarget("collection") { $0.string(path.string) }
    }

    /// Returns a target for a collection group: the documents of all collections with an ID.
    public static func collectionGroup(_ id: CollectionID) -> WatchTarget {
        WatchTarget("collectionGroup") { $0.string(id.key.string) }
    }

    /// Returns a target for the result of a query.
    package static func query(_ query: StructuredQuery) -> WatchTarget {
        WatchTarget("query") { writer in
            writer.beginObject()
            query.writeMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Returns a target for the result of a query, given by the parameters of `query.run`, a JSON object.
    package static func query(_ query: JSONNode) -> WatchTarget {
        WatchTarget("query") { $0.raw(query.rawBytes) }
    }

    /// Returns the encoded parameters of a stream for the target.
    func parameters(resume: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(name)
        writer.raw(value)
        if let resume { writer.member("resume", resume) }
        writer.endObject()
        return writer.finish()
    }
}
