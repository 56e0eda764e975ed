import DocumentModel
import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

extension ListenMessage {
    /// Writes the message as the JSON object of a frame.
    ///
    /// - Returns: False for a message that clients of `/watch` are not sent.
    package func write(to writer: inout JSONWriter) -> Bool {
        switch self {
        case .added, .filter:
            return false
        case .removed(let id, let cause):
            Self.writeRemoval(of: id, cause?.rpcError, to: &writer)
            return true
        case .reset(let id):
            writer.beginFrame(.reset)
            writer.member(WatchFrameKeys.target, Int(id))
        case .current(let id, let position):
            writer.beginFrame(.current)
            writer.member(WatchFrameKeys.target, Int(id))
            position.writeMembers(to: &writer)
        case .changed(let document, let targets, let removedTargets):
            writer.beginFrame(.changed)
            writer.key(WatchFrameKeys.document)
            document.write(to: &writer)
            writer.writeTargets(targets, removedTargets)
        case .deleted(let path, let removedTargets, let time):
            writer.beginFrame(.deleted)
            writer.member(WatchFrameKeys.path, path.string)
            writer.member(WatchFrameKeys.time, time.rfc3339)
            writer.writeTargets([], removedTargets)
        case .withdrawn(let path, let removedTargets, _):
            writer.beginFrame(.removed)
            writer.member(WatchFrameKeys.path, path.string)
            writer.writeTargets([], removedTargets)
        case .damaged(let id, let error):
            writer.beginFrame(.damaged)
            writer.member(WatchFrameKeys.target, Int(id))
            error.writeDamageMembers(to: &writer)
        case .snapshot(let position, _):
            writer.beginFrame(.snapshot)
            position.writeMembers(to: &writer)
        }
        writer.endObject()
        return true
    }

    /// Writes the frame of a target that has ended.
    ///
    /// - Parameter error: The cause; `nil` if the client has removed the target.
    package static func writeRemoval(of id: Int32, _ error: RPCError?, to writer: inout JSONWriter) {
        writer.beginFrame(.targetRemoved)
        writer.member(WatchFrameKeys.target, Int(id))
        if let error {
            writer.key(WatchFrameKeys.error)
            error.write(to: &writer)
        }
        writer.endObject()
    }
}

extension ListenSession {
    /// Writes the first frame of the stream.
    ///
    /// - Parameter id: The ID by which calls change the targets of the stream.
    package func writeOpen(id: UTF8Key, to writer: inout JSONWriter) {
        writer.beginFrame(.open)
        writer.member(WatchFrameKeys.stream, id.string)
        writer.writeOpening(
            of: position.epoch,
            at: position.lastSequence,
            position.lastCommitTime,
            oldest: position.oldestRetained,
            heartbeat: heartbeat
        )
        writer.endObject()
    }

    /// Writes the frame that is sent while nothing else can be.
    package static func writeHeartbeat(to writer: inout JSONWriter) {
        writer.beginFrame(.heartbeat)
        writer.endObject()
    }
}

extension ListenPosition {
    /// The last commit, and its time: not that of imported documents, which may be later.
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member(WatchFrameKeys.sequence, token.sequence)
        writer.writeTime(of: token)
        writer.member(WatchFrameKeys.token, token.text)
    }
}

extension JSONWriter {
    fileprivate mutating func beginFrame(_ kind: WatchFrame.Kind) {
        beginObject()
        member(WatchFrameKeys.type, kind.name)
    }

    fileprivate mutating func writeTargets(_ targets: [Int32], _ removedTargets: [Int32]) {
        writeIDs(targets, as: WatchFrameKeys.targets)
        writeIDs(removedTargets, as: WatchFrameKeys.removedTargets)
    }

    private mutating func writeIDs(_ ids: [Int32], as key: UTF8Key) {
        guard !ids.isEmpty else { return }
        self.key(key)
        beginArray()
        for id in ids { integer(Int64(id)) }
        endArray()
    }
}
