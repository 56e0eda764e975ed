import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// What importing a file would do, with nothing written.
struct ImportCheck: Sendable {
    /// How many documents can be imported.
    private(set) var count = 0
    /// How many paths there are among them that have no document yet.
    private(set) var newCount = 0
    /// How many paths there are that have one.
    private(set) var existingCount = 0
    private(set) var faults = Beginning<Work.Fault>(limit: Work.Progress.maximumFaults)
    /// Paths that stand in the file more than once, with their lines.
    private(set) var repeated = Beginning<Repetition>(limit: maximumRepeated)
    /// The first few documents.
    private(set) var sample: [DocumentPath] = []
    /// On which line each path stands first, by hashes of the paths: there may be many.
    private var lines: [Int: Int32] = [:]

    /// A path that stands in the file again.
    struct Repetition: Sendable {
        let path: DocumentPath
        let firstLine: Int
        let line: Int
    }

    /// How many paths are compared with each other; about 30 bytes are held of each.
    let maximumCompared: Int
    /// Whether there were more, of which it isn't known whether they stand in the file more than once.
    private(set) var isPartlyCompared = false

    init(comparing maximumCompared: Int = 2_000_000) {
        self.maximumCompared = maximumCompared
    }

    private static let maximumRepeated = 100
    private static let sampleCount = 5
    /// How many documents are looked up at once.
    private static let batchCount = 128

    /// Checks a file.
    ///
    /// - Parameters:
    ///   - work: Is told how many documents were read, and says when to stop.
    ///   - check: What it begins with.
    static func check(
        _ upload: Uploads.Upload,
        in context: ServiceContext,
        by work: Work,
        beginningWith check: ImportCheck = ImportCheck()
    ) async throws(StatusError) -> ImportCheck {
        var check = check
        var batch: [ImportPlan.Entry] = []
        var seenCount = 0
        var reader = ImportReader(upload.file, plan: upload.plan) { work.isStopping }
        try await reader.read { result throws(StatusError) in
            seenCount += 1
            do throws(ImportPlan.Fault) {
                let entry = try result.get()
                do throws(StatusError) {
                    try context.caller.check(entry.path)
                } catch {
                    throw ImportPlan.Fault(line: entry.line, error: error)
                }
                batch.append(entry)
            } catch {
                check.faults.append(Work.Fault(error))
            }
            guard seenCount.isMultiple(of: batchCount) else { return true }
            await check.add(batch, in: context)
            batch = []
            work.update { [count = check.count] in $0.done = count }
            return !work.isStopping
        }
        await check.add(batch, in: context)
        work.update { [count = check.count] in $0.done = count }
        check.lines = [:]
        return check
    }

    private mutating func add(_ entries: [ImportPlan.Entry], in context: ServiceContext) async {
        for (entry, exists) in zip(entries, await context.existence(of: entries.map(\.path))) {
            switch exists {
            case .success(let exists):
                count += 1
                guard isFirst(entry) else { continue }
                if exists { existingCount += 1 } else { newCount += 1 }
                if sample.count < Self.sampleCount { sample.append(entry.path) }
            case .failure(let error): faults.append(Work.Fault(ImportPlan.Fault(line: entry.line, error: error)))
            }
        }
    }

    /// Whether a path stands in the file for the first time, as far as that is known; else it is noted.
    private mutating func isFirst(_ entry: ImportPlan.Entry) -> Bool {
        let hash = entry.path.hashValue
        guard let first = lines[hash] else {
            if lines.count < maximumCompared { lines[hash] = Int32(clamping: entry.line) } else { isPartlyCompared = true }
            return true
        }
        repeated.append(Repetition(path: entry.path, firstLine: Int(first), line: entry.line))
        return false
    }
}

extension ServiceContext {
    /// Whether there are documents of some paths; an error for each that can't be read.
    func existence(of paths: [DocumentPath]) async -> [Result<Bool, StatusError>] {
        await paths.concurrentMap(width: 32) { [store] path in
            await Result { () async throws(StatusError) in try await store.document(at: path) != nil }
        }
    }
}
