import DocumentModel
import SyncEngine
import TestSupport
import UTF8Text

/// A server of one database that commits one batch after the other, and remembers every state.
struct SerialServer {
    /// The time of the last commit in microseconds.
    private(set) var time: Int64 = 1_000
    private(set) var documents: [DocumentPath: Document] = [:]
    private var history: [Int64: [DocumentPath: Document]] = [1_000: [:]]
    private var answers: [String: [BatchNumber: Answer]] = [:]
    /// The times of the commits, and those of earlier epochs that were lost.
    private var commitTimes: [String: [BatchNumber: Int64]] = [:]
    private var lostTimes: [ClosedRange<Int64>] = []
    /// The epoch of the history.
    var epoch: String { "epoch \(lostTimes.count)" }

    /// The answer to a batch.
    enum Answer {
        case acknowledged(BatchResult)
        case rejected(StatusError)
    }

    /// Commits a batch exactly once. A batch that was sent again gets the first answer.
    ///
    /// - Parameters:
    ///   - isForbidden: True to reject the batch.
    ///   - returnsDocuments: True to return the documents after the commit.
    mutating func commit(
        _ batch: MutationBatch,
        by client: String,
        isForbidden: Bool,
        returnsDocuments: Bool
    ) throws -> Answer {
        if let answer = answers[client]?[batch.number] { return answer }
        let answer =
            isForbidden
            ? .rejected(StatusError(.permissionDenied, "The batch is forbidden."))
            : try apply(batch, returnsDocuments: returnsDocuments)
        answers[client, default: [:]][batch.number] = answer
        if case .acknowledged = answer { commitTimes[client, default: [:]][batch.number] = time }
        return answer
    }

    /// Goes back to the state of a random earlier commit, as if it was restored from a backup. Times go on.
    ///
    /// - Returns: The numbers of the commits that are lost, by client.
    mutating func restore(_ random: inout SeededGenerator) -> [String: [BatchNumber]] {
        let times = history.keys.sorted().filter { position in !lostTimes.contains { $0.contains(position) } }
        guard let target = times.suffix(10).randomElement(using: &random), target < time else { return [:] }
        documents = history[target] ?? [:]
        lostTimes.append(target + 1...time)
        time += 1_000
        history[time] = documents
        let lost = commitTimes.mapValues { $0.filter { $0.value > target }.map(\.key) }
        for (client, numbers) in lost {
            for number in numbers { commitTimes[client]?[number] = nil }
            // A server that restarts has no refusals.
            answers[client] = answers[client]?.filter { number, _ in commitTimes[client]?[number] != nil }
        }
        return lost
    }

    private mutating func apply(_ batch: MutationBatch, returnsDocuments: Bool) throws -> Answer {
        let commitTime = try Timestamp(microseconds: time + 1_000)
        var changed = documents
        var results: [WriteResult] = []
        for write in batch.writes {
            do throws(StatusError) {
                let (document, result, _) = try write.applied(to: changed[write.path], at: commitTime)
                changed[write.path] = document
                results.append(result)
            } catch {
                return .rejected(error)
            }
        }
        time += 1_000
        documents = changed
        history[time] = changed
        var returned: [DocumentPath: Document?] = [:]
        if returnsDocuments {
            for path in batch.paths { returned.updateValue(changed[path], forKey: path) }
        }
        return .acknowledged(BatchResult(commitTime: commitTime, results: results, documents: returned))
    }

    /// Returns the documents of a target, now or at the time of a token.
    func result(of target: SyncTarget, at token: String? = nil) throws -> [Document] {
        let documents = token.flatMap { Int64($0) }.flatMap { history[$0] } ?? documents
        switch target {
        case .document(let path):
            return documents[path].map { [$0] } ?? []
        case .query(let query):
            return try result(of: query, in: documents.values)
        case .bundle:
            return []
        }
    }

    private func result(of query: StructuredQuery, in documents: some Sequence<Document>) throws -> [Document] {
        let normalized = try NormalizedQuery(query)
        let matches = documents.compactMap { document in
            query.source.contains(document.path)
                ? normalized.match(document.fields, at: document.path).map { (document, $0) } : nil
        }
        let sorted = matches.sorted { normalized.compare($0.1, $1.1) == .less }.map(\.0).dropFirst(normalized.offset)
        let limited = Array(sorted.prefix(normalized.limit ?? .max))
        return normalized.isReversed ? limited.reversed() : limited
    }

    /// Returns what a stream delivers after a token.
    func event(for id: TargetID, _ target: SyncTarget, after token: String) throws -> RemoteEvent {
        let new = try result(of: target)
        let now = try Timestamp(microseconds: time)
        var event = RemoteEvent(time: now, epoch: epoch)
        var change = RemoteEvent.TargetChange(isCurrent: true, token: "\(time)")
        if let position = Int64(token), !lostTimes.contains(where: { $0.contains(position) }) {
            let old = Set(try result(of: target, at: token).map(\.path))
            for document in new {
                let isChanged = document.updateTime.microseconds > position
                let isNew = !old.contains(document.path)
                guard isNew || isChanged else { continue }
                if isNew { change.added.insert(document.path) } else { change.modified.insert(document.path) }
                event.documents.append(RemoteDocument(document))
            }
            change.removed = old.subtracting(new.map(\.path))
            event.documents += change.removed.map(current)
        } else {
            change.added = Set(new.map(\.path))
            change.isComplete = true
            event.documents = new.map { RemoteDocument($0) }
            if case .document(let path) = target, new.isEmpty { event.documents = [current(path)] }
        }
        event.targets[id] = change
        return event
    }

    /// Returns the answer to a read.
    func read(_ paths: some Sequence<DocumentPath>) throws -> RemoteEvent {
        RemoteEvent(
            time: try Timestamp(microseconds: time),
            epoch: epoch,
            documents: paths.map(current),
            answeredReads: Set(paths)
        )
    }

    private func current(_ path: DocumentPath) -> RemoteDocument {
        if let document = documents[path] { return RemoteDocument(document) }
        let now = (try? Timestamp(microseconds: time)) ?? .maximum
        return RemoteDocument(path: path, content: .missing, version: now)
    }
}
