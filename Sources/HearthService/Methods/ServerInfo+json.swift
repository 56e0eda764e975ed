import DocumentModel
import DocumentStore
package import StrictJSON

extension ServerInfo {
    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.string(ServerDescription.name)
        writer.key("version")
        writer.string(ServerDescription.version)
        writer.key("database")
        writer.string(result.database.description)
        writer.key("epoch")
        writer.string(result.position.epoch)
        writer.key("sequence")
        writer.integer(Int64(result.position.lastSequence.rawValue))
        writer.key("oldestSequence")
        writer.integer(Int64(result.position.oldestKept.rawValue))
        if let time = result.position.lastCommitTime {
            writer.key("commitTime")
            writer.string(time.rfc3339)
        }
        writer.key("writable")
        writer.boolean(result.writeObstacle == nil)
        if let obstacle = result.writeObstacle {
            writer.key("writeObstacle")
            writer.string(obstacle.message)
        }
        writer.key("index")
        writer.beginObject()
        result.index.writeMembers(to: &writer)
        writer.endObject()
        if let size = result.size {
            writer.key("size")
            SizeOfCollection.write(size, to: &writer)
        }
        if let storage = result.storage {
            writer.key("storage")
            storage.write(to: &writer)
        }
        writer.key("sessions")
        writer.integer(Int64(result.sessionCount))
        writer.key("uptimeSeconds")
        writer.integer(result.uptime.components.seconds)
        if let activity = result.activity { activity.writeMembers(to: &writer) }
        writer.key("limits")
        writer.beginObject()
        writer.key("bodyBytes")
        writer.integer(Int64(result.limits.maximumBodyBytes))
        writer.key("batchCount")
        writer.integer(Int64(result.limits.maximumBatchCount))
        writer.key("pageSize")
        writer.integer(Int64(result.limits.maximumPageSize))
        writer.key("documentBytes")
        writer.integer(Int64(DocumentLimits.maximumDocumentBytes))
        writer.endObject()
        writer.endObject()
    }
}

extension ServerInfo.Activity {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.key("watchers")
        writer.integer(Int64(watcherCount))
        writer.key("commitsPerSecond")
        writer.double((rates.recent * 1_000).rounded() / 1_000)
        if let residentBytes {
            writer.key("memoryBytes")
            writer.integer(Int64(residentBytes))
        }
    }
}

extension StorageReport {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("journalBytes")
        writer.integer(Int64(journalBytes))
        writer.key("maximumJournalBytes")
        writer.integer(Int64(maximumJournalBytes))
        if let freeBytes {
            writer.key("freeBytes")
            writer.integer(Int64(freeBytes))
        }
        writer.key("waitingDocuments")
        writer.integer(Int64(waitingCount))
        writer.endObject()
    }
}
