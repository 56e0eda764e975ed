import Foundation

/// Files that one thread of this process creates and renames without a sync: the least that a write of a file takes.
struct FilePeer: Peer {
    let name = "create and rename"
    private let folder: String

    /// Creates the files of the documents.
    init(_ documents: PeerDocuments, in parent: String) throws {
        folder = parent + "/files"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for index in 0..<documents.count {
            try RawFileIO.replace("\(folder)/\(documents.id(index)).json", with: Array(documents.json(index).utf8))
        }
    }

    func run(_ workload: PeerWorkload, _ load: PeerLoad) async throws -> Int? {
        switch workload {
        case .update: try replaceFiles(load) { load.documents.id(load.documents.existing($0)) }
        case .create: try replaceFiles(load) { load.newID($0) }
        case .read, .list, .query, .compareAndSet, .increment, .watch: nil
        }
    }

    func processorTime() throws -> Duration { Measurement.ownProcessorTime() }

    func stop() {}

    private func replaceFiles(_ load: PeerLoad, _ id: (Int) -> String) throws -> Int {
        let end = ContinuousClock.now + load.duration
        var count = 0
        while .now < end {
            try RawFileIO.replace("\(folder)/\(id(count)).json", with: Array(load.documents.json(count).utf8))
            count += 1
        }
        return count
    }
}
