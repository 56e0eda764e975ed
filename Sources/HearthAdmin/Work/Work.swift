import DocumentModel
import HearthService
import StrictJSON
import Synchronization

/// Something that takes longer than a request: it goes on by itself, and a page tells how far it is.
final class Work: Sendable {
    /// What it does.
    enum Kind: Sendable {
        case deleting
        case checking
        case importing
    }

    /// How far it is.
    struct Progress: Sendable {
        var done = 0
        /// Of how many; nil where that isn't known.
        var total: Int?
        /// What could not be done.
        var faults = Beginning<Fault>(limit: maximumFaults)
        /// Documents that were written since somebody decided that they may go.
        var kept = Beginning<DocumentPath>(limit: maximumFaults)
        /// How many documents were passed over because they are there already.
        var skippedCount = 0
        /// How many documents somebody else has deleted before.
        var goneCount = 0
        /// How many documents were to be found and are not, or no longer as they were.
        private(set) var lostCount = 0
        var isOver = false
        /// What has ended it before it was done.
        var failure: String?

        static let maximumFaults = 200

        /// Notes how many documents of those that were confirmed nothing has been said of.
        mutating func noteLost(of confirmed: Int) {
            // What was confirmed comes from a form, and may be any number.
            let saidCount = done + kept.count + goneCount + faults.count
            lostCount = confirmed > saidCount ? confirmed - saidCount : 0
        }

        /// Whether all was done that was asked for, so that there is nothing to tell but how much it was.
        var isPlain: Bool {
            isOver && failure == nil && faults.isEmpty && kept.isEmpty && goneCount + lostCount + skippedCount == 0
        }
    }

    /// Something that could not be done.
    struct Fault: Sendable {
        /// Which line or document.
        let place: String
        let message: String
    }

    let id: UTF8Key
    let kind: Kind
    /// What it does that to: the path of a collection or document, or the name of a file.
    let subject: String
    /// The database that it does it in.
    let database: DatabaseID
    /// Who began it, and may look at it and stop it.
    let caller: Caller
    /// Whose share of what may go on at a time it takes: ``Visitor/workOwner``.
    let owner: UTF8Key
    /// Where it leads afterwards.
    let backURL: String
    let startTime: Timestamp
    private let state = Mutex(State())
    private let (ending, end) = AsyncStream<Never>.makeStream()

    private struct State {
        var progress = Progress()
        /// Why it is to stop where it is.
        var stop: Stop?
    }

    private enum Stop {
        case asked
        case server
    }

    init(
        _ kind: Kind,
        of subject: String,
        in database: DatabaseID,
        id: UTF8Key,
        for visitor: Visitor,
        backURL: String,
        at startTime: Timestamp
    ) {
        (self.kind, self.subject, self.database, self.id) = (kind, subject, database, id)
        (self.backURL, self.startTime) = (backURL, startTime)
        (caller, owner) = (visitor.caller, visitor.workOwner)
    }

    var progress: Progress { state.withLock(\.progress) }

    /// Notes how far it is.
    func update(_ change: (inout Progress) -> Void) {
        state.withLock { change(&$0.progress) }
    }

    /// Asks it to stop where it is.
    func stop() {
        state.withLock { $0.stop = $0.stop ?? .asked }
    }

    /// Whether it was asked to stop.
    var isStopping: Bool { state.withLock { $0.stop != nil } }

    /// Asks it to stop because the server does.
    func stopWithServer() {
        state.withLock { $0.stop = .server }
    }

    /// Runs it to its end.
    func run(_ body: () async throws(StatusError) -> Void) async {
        do throws(StatusError) {
            try await body()
        } catch {
            update { $0.failure = error.forForm }
        }
        state.withLock { state in
            if state.stop == .server { state.progress.failure = localized("The server was stopped. What was done stays done.") }
            state.progress.isOver = true
        }
        end.finish()
    }

    /// Waits until it is over, but not longer than a person waits for a page.
    func wait(atMost duration: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [ending] in for await _ in ending {} }
            group.addTask { try? await Task.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
    }
}
