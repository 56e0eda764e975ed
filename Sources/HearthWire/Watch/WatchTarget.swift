public import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of a watch target, exactly one of which is present.
package enum WatchTargetKeys {
    package static let document: UTF8Key = "document"
    package static let collection: UTF8Key = "collection"
    package static let collectionGroup: UTF8Key = "collectionGroup"
    package static let query: UTF8Key = "query"
    /// The ID in a stream with several targets.
    package static let id: UTF8Key = "id"
    /// The time to resume from in a stream with several targets.
    package static let resumeTime: UTF8Key = "resumeTime"
    /// The number of documents that a client with a state to resume from has.
    package static let expectedCount: UTF8Key = "expectedCount"
}

/// The members of a request for a watch stream, in addition to those of its target, and of calls that change its targets.
package enum WatchRequestKeys {
    package static let stream: UTF8Key = "stream"
    package static let targets: UTF8Key = "targets"
    package static let resume: UTF8Key = "resume"
    package static let heartbeat: UTF8Key = "heartbeat"
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
    /// - Parameters:
    ///   - resume: The token of the frame to resume after; `nil` to start with the current state.
    ///   - heartbeat: The seconds without frames after which the server sends one; `nil` for its default.
    package func parameters(resume: String?, heartbeat: Int? = nil) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writeMember(to: &writer)
        if let resume { writer.member(WatchRequestKeys.resume, resume) }
        if let heartbeat { writer.member(WatchRequestKeys.heartbeat, heartbeat) }
        writer.endObject()
        return writer.finish()
    }

    fileprivate var byteCount: Int { name.string.utf8.count + value.count }

    fileprivate func writeMember(to writer: inout JSONWriter) {
        writer.key(name)
        writer.raw(value)
    }
}

/// A target of a stream with several targets.
package struct IdentifiedWatchTarget: Sendable {
    /// The ID in the frames of the stream, from 1.
    package let id: Int32
    private let target: WatchTarget
    private let resume: Resume?

    /// The state that the client has.
    package enum Resume: Sendable {
        /// The state after the frame with a token.
        case token(String)
        /// The state as of a time, with a number of documents, if that is known.
        case time(Timestamp, count: Int?)
    }

    /// Creates a target.
    ///
    /// - Parameter resume: The state to continue from; `nil` to start with the current one.
    package init(id: Int32, _ target: WatchTarget, resume: Resume?) {
        self.id = id
        self.target = target
        self.resume = resume
    }

    /// The approximate size of the JSON object.
    package var byteCount: Int {
        let token = if case .token(let token)? = resume { token } else { "" }
        return 64 + target.byteCount + token.utf8.count
    }

    /// Writes the target as a JSON object.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(WatchTargetKeys.id, Int(id))
        target.writeMember(to: &writer)
        switch resume {
        case .token(let token)?: writer.member(WatchRequestKeys.resume, token)
        case .time(let time, let count)?:
            writer.member(WatchTargetKeys.resumeTime, time.rfc3339)
            if let count { writer.member(WatchTargetKeys.expectedCount, count) }
        case nil: break
        }
        writer.endObject()
    }
}

extension JSONWriter {
    /// Writes the member with the targets of a request.
    package mutating func member(_ key: UTF8Key, _ targets: [IdentifiedWatchTarget]) {
        self.key(key)
        beginArray()
        for target in targets { target.write(to: &self) }
        endArray()
    }
}
