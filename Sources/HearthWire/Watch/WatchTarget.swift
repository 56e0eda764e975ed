public import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of a watch target, exactly one of which is present.
package enum WatchTargetKeys {
    package static let document: UTF8Key = "document"
    package static let collection: UTF8Key = "collection"
    package static let collectionGroup: UTF8Key = "collectionGroup"
    package static let query: UTF8Key = "query"
}

/// The members of a request for a watch stream, in addition to those of its target.
package enum WatchRequestKeys {
    package static let resume: UTF8Key = "resume"
}

/// The target of a watch stream.
public struct WatchTarget: Hashable, Sendable {
    /// The name and JSON value of the `/watch` parameter that specifies the target.
    private let name: UTF8Key
    private let value: [UInt8]

    private init(_ key: UTF8Key, _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        name = key
        value = writer.finish()
    }

    /// Returns a document target. The document need not exist.
    public static func document(_ path: DocumentPath) -> WatchTarget {
        WatchTarget(WatchTargetKeys.document) { $0.string(path.string) }
    }

    /// Returns a target for the documents of a collection, without subcollections.
    public static func collection(_ path: CollectionPath) -> WatchTarget {
        WatchTarget(WatchTargetKeys.collection) { $0.string(path.string) }
    }

    /// Returns a target for a collection group: the documents of all collections with a given ID.
    public static func collectionGroup(_ id: CollectionID) -> WatchTarget {
        WatchTarget(WatchTargetKeys.collectionGroup) { $0.string(id.key.string) }
    }

    /// Returns a target for the result of a query.
    package static func query(_ query: StructuredQuery) -> WatchTarget {
        WatchTarget(WatchTargetKeys.query) { writer in
            writer.beginObject()
            query.writeMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Returns a target for the result of a query, given by the parameters of `query.run`, a JSON object.
    package static func query(_ query: JSONNode) -> WatchTarget {
        WatchTarget(WatchTargetKeys.query) { $0.raw(query.rawBytes) }
    }

    /// Returns the encoded parameters of a stream for the target.
    ///
    /// - Parameter resume: The token of the frame to resume after; `nil` to start with the current state.
    package func parameters(resume: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(name)
        writer.raw(value)
        if let resume { writer.member(WatchRequestKeys.resume, resume) }
        writer.endObject()
        return writer.finish()
    }
}
