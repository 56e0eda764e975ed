internal import Dispatch
internal import DocumentModel
internal import Foundation
internal import HearthTransport
internal import SyncCache
internal import SyncEngine
internal import Synchronization

extension FirestoreConfiguration {
    /// Creates the session of a database with a local cache; `nil` without one.
    func makeSession(
        for user: UserID,
        of database: String?,
        over connection: HearthConnection
    ) throws(StatusError) -> (any SyncSession)? {
        switch cacheSettings {
        case nil:
            return nil
        case let settings as MemoryCacheSettings:
            let collector = settings.garbageCollectorSettings as? MemoryLRUGCSettings
            return SyncClient.memory(
                isEager: collector == nil,
                for: user,
                evicting: collector?.maximumByteCount.map { EvictionPolicy(minimumByteCount: $0) },
                over: connection
            )
        case let settings as PersistentCacheSettings:
            if case .idToken? = credential?.kind, user.string?.utf8.first == 0 {
                ClientLog.write(
                    "writes that are queued without the ID of a user are not sent by a later run: see IDTokenProvider.userID"
                )
            }
            return SyncClient(
                .persistent(in: cacheFolder(of: database, settings), for: user, over: connection),
                for: user,
                evicting: settings.maximumByteCount.map { EvictionPolicy(minimumByteCount: $0) },
                over: connection
            )
        default:
            throw StatusError(
                .invalidArgument,
                "Unknown cache settings: expected MemoryCacheSettings or PersistentCacheSettings."
            )
        }
    }

    /// Returns the user of the credential.
    ///
    /// - Parameter number: The number of changes of the user so far, by which users without an ID differ.
    func user(number: Int) -> UserID {
        guard case .idToken(let provider)? = credential?.kind else { return UserID(nil) }
        if let id = provider.userID { return UserID(id) }
        // No ID of a user begins with a null character. What somebody without an ID has queued must not be sent by a later run, for
        // somebody else.
        guard cacheSettings is PersistentCacheSettings else { return UserID("\0\(number)") }
        return UserID("\0\(UUID().uuidString)")
    }

    /// Removes the files of the persistent cache; without one, those that an earlier one has left in the standard folder.
    ///
    /// - Throws: `.failedPrecondition` if a process uses them.
    func clearCache(of database: String?) async throws(StatusError) {
        let settings = cacheSettings as? PersistentCacheSettings ?? PersistentCacheSettings()
        let folder = cacheFolder(of: database, settings)
        let result: Result<[Int], StatusError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { () throws(StatusError) in try folder.clear() })
            }
        }
        guard try result.get().isEmpty else {
            throw StatusError(.failedPrecondition, "Another process, or another instance, uses the cache. End it first.")
        }
    }

    /// Returns the folder of a persistent cache.
    func cacheFolder(of database: String?, _ settings: PersistentCacheSettings) -> CacheFolder {
        CacheFolder(
            in: settings.folder?.path(percentEncoded: false) ?? Self.standardCacheFolder,
            server: address,
            database: database ?? "",
            principal: principal
        )
    }

    /// The name of those who may see the cached documents: without the secret of a key.
    private var principal: String {
        switch credential?.kind {
        case nil: return "public"
        case .idToken: return "users"
        case .key(let key):
            let parts = key.split(separator: "_")
            return parts.count == 3 ? "key \(parts[1])" : "key"
        }
    }

    /// The folder for caches: one that the system does not purge, since they hold queued writes.
    private static var standardCacheFolder: String {
        #if canImport(Darwin)
        let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        return (support ?? URL(filePath: NSTemporaryDirectory())).appending(path: "Hearth").path(percentEncoded: false)
        #else
        let environment = ProcessInfo.processInfo.environment["XDG_STATE_HOME"]
        let state = environment.flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = FileManager.default.homeDirectoryForCurrentUser.path(percentEncoded: false)
        return (state ?? home + "/.local/state") + "/hearth"
        #endif
    }
}

extension SyncClient<MemoryCache> {
    /// Returns a session with a cache in memory.
    ///
    /// - Parameter isEager: True if the cache has only what listeners show and queued writes need.
    static func memory(
        isEager: Bool = true,
        for user: UserID,
        evicting evictionPolicy: EvictionPolicy? = nil,
        over connection: HearthConnection
    ) -> SyncClient {
        let storage = Storage(open: { Storage.Opened(cache: MemoryCache(isEager: isEager)) }, close: { _ in })
        return SyncClient(storage, for: user, evicting: evictionPolicy, over: connection)
    }
}

extension SyncClient<PersistentCache>.Storage {
    /// The files in a free slot of a folder, and those that other processes have left there.
    fileprivate static func persistent(in folder: CacheFolder, for user: UserID, over connection: HearthConnection) -> Self {
        Self(
            open: { open(in: folder) },
            close: { $0.close() },
            reopen: reopen,
            abandonedQueues: {
                let slots = (try? folder.takeAbandonedSlots()) ?? []
                return slots.map { slot in
                    let held = HeldSlot(slot)
                    let storage = Self(
                        open: {
                            do throws(StatusError) {
                                if let slot = held.take() { return try open(slot) }
                            } catch {
                                ClientLog.write("a queue that another process has left cannot be opened, and stays: \(error)")
                            }
                            return Opened(cache: .inMemory())
                        },
                        close: { $0.close() },
                        reopen: reopen
                    )
                    return SyncClient(storage, for: user, evicting: nil, over: connection)
                }
            }
        )
    }

    /// Opens the files in the first free slot whose format is known, or else a cache without files.
    @Sendable private static func open(in folder: CacheFolder) -> Opened {
        var newer: (slots: Set<Int>, error: StatusError?) = ([], nil)
        do throws(StatusError) {
            while true {
                // The first free one is mostly that of the last run.
                let slot = try folder.takeSlot { !newer.slots.contains($0.number) }
                do throws(StatusError) {
                    var opened = try open(slot)
                    opened.problem = opened.problem ?? newer.error
                    #if canImport(Darwin)
                    excludeFromBackup(folder)
                    #endif
                    return opened
                } catch {
                    // A newer version has written the files.
                    guard error.code == .failedPrecondition else { throw error }
                    ClientLog.write("the local cache begins anew: \(error)")
                    newer = (newer.slots.union([slot.number]), error)
                }
            }
        } catch {
            ClientLog.write("the local cache cannot be opened, and is in memory: \(error)")
            return Opened(cache: .inMemory(), problem: error)
        }
    }

    #if canImport(Darwin)
    /// Excludes the files from backups of the device. A queue that was set back by one would be sent again.
    private static func excludeFromBackup(_ folder: CacheFolder) {
        var url = URL(filePath: folder.path, directoryHint: .isDirectory)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? url.setResourceValues(values)
    }
    #endif

    /// Opens the files of a cache again, if they are damaged or gone.
    @Sendable private static func reopen(_ cache: PersistentCache) throws(StatusError) -> Reopened? {
        guard cache.needsReopening else { return nil }
        let reopened = try cache.reopened()
        let report = reopened.openingReport
        ClientLog.write(report.damage?.message ?? "the files of the local cache have been opened again.")
        let keepsNumbers = report.queueRecovery.map { $0.lostCount == 0 } ?? true
        return Reopened(cache: reopened, keepsNumbers: keepsNumbers, problem: report.damage)
    }

    @Sendable private static func open(_ slot: CacheSlot) throws(StatusError) -> Opened {
        let cache = try PersistentCache(slot: slot)
        let damage = cache.openingReport.damage
        if let damage { ClientLog.write(damage.message) }
        return Opened(cache: cache, isPersistent: true, problem: damage)
    }
}

/// A slot until its files are opened, which then hold it.
private final class HeldSlot: Sendable {
    private let slot: Mutex<CacheSlot?>

    init(_ slot: CacheSlot) {
        self.slot = Mutex(slot)
    }

    func take() -> CacheSlot? {
        slot.withLock { slot in
            defer { slot = nil }
            return slot
        }
    }
}

extension OpeningReport {
    /// The damage as an error; `nil` if there was none.
    fileprivate var damage: StatusError? {
        var notes: [String] = []
        if let setAsideCache {
            notes.append("the local cache was damaged, and begins anew. The damaged file is \(setAsideCache).")
        }
        if let queueRecovery {
            let lost = queueRecovery.lostCount.map { "\($0)" } ?? "an unknown number"
            notes.append(
                "the queue of writes was damaged (\(queueRecovery.damage)): \(queueRecovery.recoveredCount) calls were recovered, "
                    + "\(lost) lost. The damaged file is \(queueRecovery.setAsideFile)."
            )
        }
        return notes.isEmpty ? nil : StatusError(.dataLoss, notes.joined(separator: "; "))
    }
}
