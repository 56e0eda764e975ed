package import DocumentModel
package import StrictJSON

/// The members of a frame.
package enum WatchFrameKeys {
    package static let type: WireKey = "type"
    package static let epoch: WireKey = "epoch"
    package static let sequence: WireKey = "seq"
    package static let time: WireKey = "time"
    package static let heartbeat: WireKey = "heartbeat"
    package static let retained: WireKey = "retained"
    package static let document: WireKey = "document"
    package static let path: WireKey = "path"
    package static let before: WireKey = "before"
    package static let oldIndex: WireKey = "oldIndex"
    package static let newIndex: WireKey = "newIndex"
    package static let count: WireKey = "count"
    package static let number: WireKey = "n"
    package static let changeCount: WireKey = "of"
    package static let reason: WireKey = "reason"
    package static let token: WireKey = "token"
}

/// The contents of a frame to send. A member that is nil is absent from the JSON.
package struct WatchFrameMembers: Sendable {
    package var kind: WatchFrame.Kind
    /// The identity of the database's history.
    package var epoch: String?
    /// The sequence number of the commit, or of the last commit.
    package var sequence: UInt64?
    /// The time of the commit.
    package var time: Timestamp?
    /// The time without frames after which a heartbeat is sent, in seconds.
    package var heartbeat: Int64?
    /// The sequence number of the oldest retained commit.
    package var retained: UInt64?
    /// The document of a change; its path is not written beside it.
    package var document: EncodedDocument?
    /// The path of a change without a document.
    package var path: DocumentPath?
    /// The before-image.
    package var before: EncodedDocument?
    /// The previous index in an ordered result.
    package var oldIndex: Int?
    /// The new index in an ordered result.
    package var newIndex: Int?
    /// The number of documents of the target.
    package var count: Int?
    /// The number of the change within its commit, from 1.
    package var number: Int?
    /// The number of changes of the commit.
    package var changeCount: Int?
    /// The reason for a reset or the end.
    package var reason: String?
    /// The error for an unreadable document.
    package var damage: StatusError?
    /// The resume token.
    package var token: String?

    /// Creates an empty frame.
    package init(_ kind: WatchFrame.Kind) {
        self.kind = kind
    }

    /// Writes the frame as a JSON object.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(WatchFrameKeys.type, kind.name)
        if let epoch { writer.member(WatchFrameKeys.epoch, epoch) }
        if let sequence { writer.member(WatchFrameKeys.sequence, Int(sequence)) }
        if let time { writer.member(WatchFrameKeys.time, time.rfc3339) }
        if let heartbeat { writer.member(WatchFrameKeys.heartbeat, Int(heartbeat)) }
        if let retained { writer.member(WatchFrameKeys.retained, Int(retained)) }
        if let document {
            writer.key(WatchFrameKeys.document)
            document.write(to: &writer)
        } else if let path {
            writer.member(WatchFrameKeys.path, path.string)
        }
        if let before {
            writer.key(WatchFrameKeys.before)
            before.write(to: &writer)
        }
        if let oldIndex { writer.member(WatchFrameKeys.oldIndex, oldIndex) }
        if let newIndex { writer.member(WatchFrameKeys.newIndex, newIndex) }
        if let count { writer.member(WatchFrameKeys.count, count) }
        if let number { writer.member(WatchFrameKeys.number, number) }
        if let changeCount { writer.member(WatchFrameKeys.changeCount, changeCount) }
        if let reason { writer.member(WatchFrameKeys.reason, reason) }
        damage?.writeDamageMembers(to: &writer)
        if let token { writer.member(WatchFrameKeys.token, token) }
        writer.endObject()
    }
}
