import DocumentModel
import DocumentStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileStore

/// A data folder `data` and a folder for its backups, `backups`.
struct BackupFixture {
    let store: StoreFixture

    init() throws {
        store = try StoreFixture()
    }

    /// Opens the databases of the data folder.
    func open(_ fixture: StoreFixture? = nil) async throws -> FileStoreHost {
        let configuration = (fixture ?? store).configuration
        // As a new process does, which knows nothing of an earlier one.
        let folder = try await BackupFolder.open(store.folder["backups"], creating: true)
        return try await FileStoreHost.open(configuration, backupFolder: folder, logger: .silent)
    }

    /// Makes a backup of the default database, and of the open databases that are given.
    @discardableResult
    func makeBackup(
        of host: FileStoreHost,
        _ databases: [DatabaseID: any DocumentStore] = [:],
        including others: [DatabaseID] = [],
        includingKeys: Bool = false,
        in folder: BackupFolder? = nil,
        withOther body: @escaping @Sendable (DatabaseID) async throws(StatusError) -> Void = { _ in }
    ) async throws(StatusError) -> Backup {
        let request = BackupRequest(
            startTime: .current(),
            databases: databases.keys.sorted() + others,
            includesKeys: includingKeys,
            version: "1.2.3"
        )
        let backups: (any BackupStore)? =
            if let folder {
                HostBackups(
                    folder: folder,
                    defaultStore: host.defaultFileStore,
                    databases: try await DatabaseFolders.open(inFolder: store.folder["data"])
                )
            } else {
                host.backups
            }
        guard let backups else { throw StatusError(.internal, "The host makes no backups.") }
        return try await backups.create(request) { id, copy throws(StatusError) in
            guard let database = databases[id] else { return try await body(id) }
            try await copy(database)
        }
    }

    /// Makes a backup that fails at an additional database.
    func makeBackup(of host: FileStoreHost, failing id: DatabaseID, with error: StatusError) async throws(StatusError) {
        try await makeBackup(of: host, including: [id]) { _ throws(StatusError) in throw error }
    }

    /// Restores a backup to a new data folder.
    func restore(
        _ backup: Backup,
        asOf target: RestoreTarget = .backup,
        to relative: String = "restored",
        previous: String? = nil,
        skippingDamaged: Bool = false
    ) async throws -> RestoreReport {
        let reader = try await BackupReader.open(store.folder["backups/\(backup.name)"])
        return try await BackupRestore(
            reader,
            asOf: target,
            to: store.folder[relative],
            replacing: previous.map { store.folder[$0] },
            skippingDamaged: skippingDamaged,
            logger: .silent
        ).run()
    }

    /// Returns the documents of a data folder, which is copied first.
    func documents(in relative: String) async throws -> [DocumentPath: EncodedDocument] {
        let copy = "copy-\(UUID().uuidString)"
        try store.folder.copy(relative, to: copy)
        defer { try? store.folder.remove(copy) }
        var configuration = store.configuration
        configuration.folder = store.folder[copy]
        configuration.identity = try DataFolder.inspect(configuration.folder).identity
        var copied = store
        copied.configuration = configuration
        return try await copied.withStore(at: copy) { try await $0.allDocuments() }
    }

    /// Returns the faults that a verification of a backup finds.
    func faults(of name: String) async throws -> [String] {
        let faults = Mutex<[String]>([])
        let reader = try await BackupReader.open(store.folder["backups/\(name)"])
        let count = try await reader.verify { fault in faults.withLock { $0.append(fault.file?.path ?? "") } }
        #expect(count == reader.backup.fileCount)
        return faults.withLock { $0.sorted() }
    }

    /// Returns the inode number of a file.
    func inode(of relative: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: store.folder[relative])[.systemFileNumber] as? Int)
    }
}

extension DataFolder {
    /// The identity that the folder states. Releases the folder.
    fileprivate var identity: DatabaseIdentity {
        unlock()
        return DatabaseIdentity(manifest.database)
    }
}

extension DocumentStore {
    /// Returns all documents.
    func allDocuments() async throws -> [DocumentPath: EncodedDocument] {
        var found: [DocumentPath: EncodedDocument] = [:]
        try await addDocuments(under: nil, to: &found)
        return found
    }

    private func addDocuments(under parent: DocumentPath?, to found: inout [DocumentPath: EncodedDocument]) async throws {
        for id in try await collections(under: parent, after: nil, limit: 1_000, readTime: nil).collections {
            let collection = CollectionPath(parent: parent, id: id)
            let page = try await documents(in: collection, after: nil, limit: 10_000, includingMissing: true, readTime: nil)
            for entry in page.documents {
                switch entry {
                case .document(let document):
                    found[document.path] = document
                    try await addDocuments(under: document.path, to: &found)
                case .missing(let path): try await addDocuments(under: path, to: &found)
                }
            }
        }
    }
}

extension Sequence where Self: Sendable {
    /// Transforms the elements one after the other.
    func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
