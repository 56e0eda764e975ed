import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import Foundation
import HearthAPI
import StrictJSON
import SwiftProtobuf

/// A response of `Listen`, encoded when it is written.
struct ListenResponse: WebChannelResponse {
    let message: ListenMessage
    let database: DatabaseName
    /// The encoded documents that all listeners share; `nil` for a document that only this response has.
    let documents: EncodedDocumentCache?

    /// Creates the response for a message; returns `nil` for one that Firestore's clients don't know.
    init?(message: ListenMessage, database: DatabaseName, documents: EncodedDocumentCache?) {
        if case .damaged = message { return nil }
        self.message = message
        self.database = database
        self.documents = documents
    }

    /// Encodes the response. Shared documents are encoded once for all listeners.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the stored fields of a document are damaged.
    func encoded() throws(StatusError) -> [UInt8] {
        switch message {
        case .changed(let document, let targets, let removedTargets):
            let shared = try documents?.message(for: document, in: database)
            let byteCount = shared?.count ?? 2 * document.fieldsJSON.count + 256
            var writer = ProtobufWriter(reservingCapacity: byteCount + 8 * (targets.count + removedTargets.count) + 32)
            try writer.message(field: 3) { writer throws(StatusError) in
                if let shared {
                    writer.data(shared, field: 1)
                } else {
                    try writer.message(field: 1) { writer throws(StatusError) in try writer.document(document, in: database) }
                }
                writer.packed(targets, field: 5)
                writer.packed(removedTargets, field: 6)
            }
            return writer.finish()
        case .snapshot(let position, let isOfAllTargets):
            var writer = ProtobufWriter(reservingCapacity: 96)
            writer.message(field: 2) { writer in
                // Clients keep the token for all of their targets.
                if isOfAllTargets { writer.data(position.token.bytes, field: 4) }
                writer.time(position.readTime, field: 6)
            }
            return writer.finish()
        default:
            return try ProtoListenResponse(message, in: database).encoded()
        }
    }

    func write(to writer: inout JSONWriter) throws(StatusError) {
        try ProtoListenResponse(message, in: database).write(to: &writer)
    }
}

extension ProtoListenResponse {
    /// Encodes a message.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the stored fields of a document are damaged.
    init(_ message: ListenMessage, in database: DatabaseName) throws(StatusError) {
        self.init()
        switch message {
        case .added(let id):
            targetChange = ProtoTargetChange(.add, id)
        case .removed(let id, let cause):
            targetChange = ProtoTargetChange(.remove, id)
            if let cause { targetChange.cause = ProtoStatus(GRPCStatus(cause)) }
        case .reset(let id):
            targetChange = ProtoTargetChange(.reset, id)
        case .current(let id, let position):
            targetChange = ProtoTargetChange(.current, id, position, hasToken: true)
        case .changed(let document, let targets, let removedTargets):
            documentChange.document = try ProtoDocument(document, in: database)
            documentChange.targetIds = targets
            documentChange.removedTargetIds = removedTargets
        case .deleted(let path, let removedTargets, let time):
            documentDelete.document = database.name(of: path)
            documentDelete.removedTargetIds = removedTargets
            documentDelete.readTime = Google_Protobuf_Timestamp(time)
        case .withdrawn(let path, let removedTargets, let time):
            documentRemove.document = database.name(of: path)
            documentRemove.removedTargetIds = removedTargets
            documentRemove.readTime = Google_Protobuf_Timestamp(time)
        case .damaged:
            break
        case .filter(let id, let count, let paths):
            filter.targetID = id
            filter.count = Int32(clamping: count)
            if let paths { filter.unchangedNames = ProtoBloomFilter(BloomFilter(paths.map(database.name))) }
        case .snapshot(let position, let isOfAllTargets):
            targetChange = ProtoTargetChange(.noChange, nil, position, hasToken: isOfAllTargets)
        }
    }
}

extension ProtoTargetChange {
    fileprivate init(_ type: TargetChangeType, _ target: Int32?, _ position: ListenPosition? = nil, hasToken: Bool = false) {
        self.init()
        targetChangeType = type
        targetIds = target.map { [$0] } ?? []
        guard let position else { return }
        if hasToken { resumeToken = Data(position.token.bytes) }
        readTime = Google_Protobuf_Timestamp(position.readTime)
    }
}

extension ProtoBloomFilter {
    fileprivate init(_ filter: BloomFilter) {
        self.init()
        bits.bitmap = Data(filter.bitmap)
        bits.padding = Int32(filter.padding)
        hashCount = Int32(filter.hashCount)
    }
}

extension ProtoStatus {
    /// Encodes the cause of a target's end.
    fileprivate init(_ status: GRPCStatus) {
        self.init()
        code = Int32((status.code ?? .unknown).rawValue)
        message = status.message
    }
}
