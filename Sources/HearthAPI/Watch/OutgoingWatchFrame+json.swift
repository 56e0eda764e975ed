import DocumentModel
import DocumentStore
package import HearthWire
package import JSONRPC
package import StrictJSON
import UTF8Text

extension OutgoingWatchFrame {
    /// The kind of the frame.
    package var kind: WatchFrame.Kind {
        switch self {
        case .open: .open
        case .change(let change, _): change.kind.frameKind
        case .damaged: .damaged
        case .current: .current
        case .heartbeat: .checkpoint
        case .reset: .reset
        case .end: .end
        }
    }

    /// The resume token of the frame.
    package var token: ResumeToken? {
        switch self {
        case .open, .reset, .damaged: nil
        case .change(_, let position): position?.token
        case .current(_, _, let token), .heartbeat(_, _, let token): token
        case .end(_, let token): token
        }
    }

    /// Writes the frame as a JSON object.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(WatchFrameKeys.type, kind.name)
        switch self {
        case .open(let epoch, let sequence, let time, let oldest, let heartbeat):
            writer.writeOpening(of: epoch, at: sequence, time, oldest: oldest, heartbeat: heartbeat)
        case .change(let change, let position):
            if let position {
                writer.member(WatchFrameKeys.sequence, position.sequence)
                writer.member(WatchFrameKeys.time, position.time.rfc3339)
            }
            change.writeMembers(to: &writer)
            if let position {
                writer.member(WatchFrameKeys.number, position.number)
                writer.member(WatchFrameKeys.changeCount, position.count)
            }
            change.writeRemovedDocument(to: &writer)
        case .damaged(let error):
            error.writeDamageMembers(to: &writer)
        case .current(let sequence, let count, let token):
            writer.member(WatchFrameKeys.sequence, sequence)
            writer.member(WatchFrameKeys.count, count)
            writer.writeTime(of: token)
        case .heartbeat(let sequence, let count, let token):
            writer.member(WatchFrameKeys.sequence, sequence)
            if let count { writer.member(WatchFrameKeys.count, count) }
            writer.writeTime(of: token)
        case .reset(let reason):
            writer.member(WatchFrameKeys.reason, reason.rawValue)
        case .end(let reason, _):
            writer.member(WatchFrameKeys.reason, reason.rawValue)
        }
        if let token { writer.member(WatchFrameKeys.token, token.text) }
        writer.endObject()
    }

    /// Writes the last frame of a failed stream as a JSON object.
    package static func write(_ error: RPCError, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(WatchFrameKeys.type, WatchFrame.Kind.error.name)
        writer.member(ErrorKeys.code, error.code.rawValue)
        writer.member(ErrorKeys.message, error.message)
        if !error.data.isEmpty {
            writer.key(ErrorKeys.data)
            error.data.write(to: &writer)
        }
        writer.endObject()
    }
}

extension OutgoingWatchFrame.Change {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        if let document, kind != .removed {
            writer.key(WatchFrameKeys.document)
            document.write(to: &writer)
        } else {
            writer.member(WatchFrameKeys.path, path.string)
        }
        if let before {
            writer.key(WatchFrameKeys.before)
            before.write(to: &writer)
        }
        if let oldIndex { writer.member(WatchFrameKeys.oldIndex, oldIndex) }
        if let newIndex { writer.member(WatchFrameKeys.newIndex, newIndex) }
    }

    /// Writes the document of a removal, which has its path as well.
    fileprivate func writeRemovedDocument(to writer: inout JSONWriter) {
        guard kind == .removed, let document else { return }
        writer.key(WatchFrameKeys.document)
        document.write(to: &writer)
    }
}

extension JSONWriter {
    /// Writes the members that the first frame of all streams has.
    mutating func writeOpening(
        of epoch: String,
        at sequence: SequenceNumber,
        _ time: Timestamp?,
        oldest: SequenceNumber,
        heartbeat: Duration
    ) {
        member(WatchFrameKeys.epoch, epoch)
        member(WatchFrameKeys.sequence, sequence)
        member(WatchFrameKeys.heartbeat, Int(heartbeat.components.seconds))
        member(WatchFrameKeys.retained, oldest)
        if let time { member(WatchFrameKeys.time, time.rfc3339) }
    }

    mutating func member(_ key: UTF8Key, _ sequence: SequenceNumber) {
        member(key, Int(sequence.rawValue))
    }

    /// Writes the time of the commit of a token; nothing before the first commit.
    mutating func writeTime(of token: ResumeToken) {
        guard token.time > .minimum else { return }
        member(WatchFrameKeys.time, token.time.rfc3339)
    }
}

extension OutgoingWatchFrame.Change.Kind {
    fileprivate var frameKind: WatchFrame.Kind {
        switch self {
        case .added: .added
        case .modified: .modified
        case .removed: .removed
        case .deleted: .deleted
        }
    }
}

extension JSONSchema {
    /// The schema of a change frame.
    static var change: JSONSchema {
        .component("Change", of: OutgoingWatchFrame.Change.self) {
            .object([
                .init(
                    WatchFrameKeys.type,
                    .string(values: [WatchFrame.Kind.added, .modified, .removed, .deleted].map(\.name)),
                    "The kind of change. A removed document still exists, but no longer belongs to the target."
                ),
                .init(WatchFrameKeys.sequence, .integer(minimum: 1), "The sequence number of the commit."),
                .init(WatchFrameKeys.time, Timestamp.schema, "The time of the commit."),
                .init(
                    WatchFrameKeys.document,
                    .document,
                    "The document; absent if it was deleted, and with include: paths. If it was removed, the document as of the commit: "
                        + "absent for end users, and if it cannot be read.",
                    isRequired: false
                ),
                .init(
                    WatchFrameKeys.path,
                    DocumentPath.schema,
                    "The path of the document; present if the document was removed or is absent.",
                    isRequired: false
                ),
                .init(
                    WatchFrameKeys.before,
                    .document,
                    "The document before the change; only with include: before.",
                    isRequired: false
                ),
                .init(
                    WatchFrameKeys.oldIndex,
                    .integer(minimum: 0),
                    "The previous index in an ordered result.",
                    isRequired: false
                ),
                .init(WatchFrameKeys.newIndex, .integer(minimum: 0), "The new index in an ordered result.", isRequired: false),
                .init(
                    WatchFrameKeys.number,
                    .integer(minimum: 1),
                    "The number of the change among the commit's changes to the target, starting at 1."
                ),
                .init(WatchFrameKeys.changeCount, .integer(minimum: 1), "The number of the commit's changes to the target."),
                .init(WatchFrameKeys.token, .string(), "The resume token, on the last change of a commit.", isRequired: false),
            ])
        }
    }
}
