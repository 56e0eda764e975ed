public import DocumentModel
package import StrictJSON

/// What to watch.
public struct WatchTarget: Hashable, Sendable {
    /// The parameter of `/watch` that names it, with its JSON.
    private let name: UTF8Key
    private let value: [UInt8]

    private init(_ name: UTF8Key, _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        self.name = name
        value = writer.finish()
    }

    /// One document, whether it exists or not.
    public static func document(_ path: DocumentPath) -> WatchTarget {
        WatchTarget("document") { $0.string(path.string) }
    }

    /// The documents directly in a collection; not those of subcollections.
    public static func collection(_ path: CollectionPath) -> WatchTarget {
        WatchTarget("collection") { $0.string(path.string) }
    }

    /// The documents in all collections of an id, wherever they are.
    public static func collectionGroup(_ id: CollectionID) -> WatchTarget {
        WatchTarget("collectionGroup") { $0.string(id.key.string) }
    }

    /// The result of a query.
    package static func query(_ query: DocumentModel.Query) -> WatchTarget {
        WatchTarget("query") { writer in
            writer.beginObject()
            query.writeMembers(to: &writer)
            writer.endObject()
        }
    }

    /// The result of a query that is stated as `query.run` takes it: an object, the parameters by name.
    package static func query(_ query: JSONNode) -> WatchTarget {
        WatchTarget("query") { $0.raw(query.rawBytes) }
    }

    /// The parameters of a stream for the target.
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
