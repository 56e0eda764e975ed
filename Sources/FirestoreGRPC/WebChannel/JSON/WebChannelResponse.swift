import DocumentModel
import FirestoreProto
import Foundation
import StrictJSON
import SwiftProtobuf

/// A response of a stream that is also sent to web clients.
protocol WebChannelResponse: StreamResponse {
    /// Writes the response in the JSON form of Protocol Buffers.
    ///
    /// Not by SwiftProtobuf: the fields of documents are objects in JSON, and repeated entries in the generated messages.
    func write(to writer: inout JSONWriter) throws(StatusError)
}

extension ProtoWriteResponse: WebChannelResponse {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if !streamID.utf8.isEmpty {
            writer.key("streamId")
            writer.string(streamID)
        }
        writer.key("streamToken")
        writer.base64(streamToken)
        if !writeResults.isEmpty {
            writer.key("writeResults")
            writer.array(writeResults) { result, writer in result.write(to: &writer) }
        }
        if hasCommitTime {
            writer.key("commitTime")
            writer.time(commitTime)
        }
        writer.endObject()
    }
}

extension ProtoWriteResult {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if hasUpdateTime {
            writer.key("updateTime")
            writer.time(updateTime)
        }
        if !transformResults.isEmpty {
            writer.key("transformResults")
            writer.array(transformResults) { value, writer in writer.value(value) }
        }
        writer.endObject()
    }
}

extension ProtoListenResponse: WebChannelResponse {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch responseType {
        case .targetChange(let change):
            writer.key("targetChange")
            change.write(to: &writer)
        case .documentChange(let change):
            writer.key("documentChange")
            writer.beginObject()
            writer.key("document")
            change.document.write(to: &writer)
            writer.ids("targetIds", change.targetIds)
            writer.ids("removedTargetIds", change.removedTargetIds)
            writer.endObject()
        case .documentDelete(let deletion):
            writer.key("documentDelete")
            writer.removal(
                of: deletion.document,
                from: deletion.removedTargetIds,
                at: deletion.hasReadTime ? deletion.readTime : nil
            )
        case .documentRemove(let removal):
            writer.key("documentRemove")
            writer.removal(
                of: removal.document,
                from: removal.removedTargetIds,
                at: removal.hasReadTime ? removal.readTime : nil
            )
        case .filter(let filter):
            writer.key("filter")
            filter.write(to: &writer)
        case nil:
            break
        }
        writer.endObject()
    }
}

extension ProtoTargetChange {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if let name = targetChangeType.jsonName {
            writer.key("targetChangeType")
            writer.string(name)
        }
        writer.ids("targetIds", targetIds)
        if hasCause {
            writer.key("cause")
            writer.beginObject()
            writer.key("code")
            writer.integer(Int64(cause.code))
            writer.key("message")
            writer.string(cause.message)
            writer.endObject()
        }
        if !resumeToken.isEmpty {
            writer.key("resumeToken")
            writer.base64(resumeToken)
        }
        if hasReadTime {
            writer.key("readTime")
            writer.time(readTime)
        }
        writer.endObject()
    }
}

extension ProtoTargetChange.TargetChangeType {
    /// The name in JSON; `nil` for the default, which is omitted.
    fileprivate var jsonName: String? {
        switch self {
        case .add: "ADD"
        case .remove: "REMOVE"
        case .current: "CURRENT"
        case .reset: "RESET"
        case .noChange, .UNRECOGNIZED: nil
        }
    }
}

extension ProtoExistenceFilter {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("targetId")
        writer.integer(Int64(targetID))
        writer.key("count")
        writer.integer(Int64(count))
        if hasUnchangedNames {
            writer.key("unchangedNames")
            writer.beginObject()
            writer.key("bits")
            writer.beginObject()
            writer.key("bitmap")
            writer.base64(unchangedNames.bits.bitmap)
            writer.key("padding")
            writer.integer(Int64(unchangedNames.bits.padding))
            writer.endObject()
            writer.key("hashCount")
            writer.integer(Int64(unchangedNames.hashCount))
            writer.endObject()
        }
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func ids(_ name: StaticString, _ ids: [Int32]) {
        guard !ids.isEmpty else { return }
        key(name)
        array(ids) { id, writer in writer.integer(Int64(id)) }
    }

    fileprivate mutating func removal(of document: String, from ids: [Int32], at time: Google_Protobuf_Timestamp?) {
        beginObject()
        key("document")
        string(document)
        self.ids("removedTargetIds", ids)
        if let time {
            key("readTime")
            self.time(time)
        }
        endObject()
    }
}

extension WebChannelResponse {
    /// The array of a channel that contains the message.
    var webChannelArray: [UInt8] {
        get throws(StatusError) {
            var writer = JSONWriter()
            writer.beginArray()
            try write(to: &writer)
            writer.endArray()
            return writer.finish()
        }
    }
}

extension GRPCStatus {
    /// The array that ends a channel: `[{"error":{"code":403,"message":…,"status":"PERMISSION_DENIED"}}]`.
    var webChannelArray: [UInt8] {
        let code = code ?? .unknown
        var writer = JSONWriter()
        writer.beginArray()
        writer.beginObject()
        writer.key("error")
        writer.beginObject()
        writer.key("code")
        writer.integer(Int64(code.httpStatus))
        writer.key("message")
        writer.string(message)
        writer.key("status")
        writer.string(code.name)
        writer.endObject()
        writer.endObject()
        writer.endArray()
        return writer.finish()
    }
}
