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
        /// What could not be done, as far as there is room for it.
        var faults: [Fault] = []
        var faultCount = 0
        /// Documents that were written since somebody decided that they may go, as far as there is room for them.
        private(set) var kept: [DocumentPath] = []
        private(set) var keptCount = 0
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

        mutating func note(_ fault: Fault) {
            faultCount += 1
            if faults.count < Self.maximumFaults { faults.append(fault) }
        }

        mutating func keep(_ path: DocumentPath) {
            keptCount += 1
            if kept.count < Self.maximumFaults { kept.append(path) }
        }

        /// Notes how many documents of those that were confirmed nothing has been said of.
        mutating func noteLost(of confirmed: Int) {
            // What was confirmed comes from a form, and may be any number.
            let saidCount = done + keptCount + goneCount + faultCount
            lostCount = confirmed > saidCount ? confirmed - saidCount : 0
        }

        /// Whether all was done that was asked for, so that there is nothing to tell but how much it was.
        var isPlain: Bool {
            isOver && failure == nil && faultCount + keptCount + goneCount + lostCount + skippedCount == 0
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
    /// Who began it, and may look at it and stop it.
    let caller: Caller
    /// Where it leads afterwards.
    let backURL: String
    let startTime: Timestamp
    private let state = Mutex(Progress())
    private let (ending, end) = AsyncStream<Never>.makeStream()
    private let isStopped = Mutex(false)
    private let isEndedByServer = Mutex(false)

    init(_ kind: Kind, id: UTF8Key, for caller: Caller, backURL: String, at startTime: Timestamp) {
        (self.kind, self.id, self.caller, self.backURL, self.startTime) = (kind, id, caller, backURL, startTime)
    }

    var progress: Progress { state.withLock { $0 } }

    /// Notes how far it is.
    func update(_ change: (inout Progress) -> Void) {
        state.withLock { change(&$0) }
    }

    /// Asks it to stop where it is.
    func stop() {
        isStopped.withLock { $0 = true }
    }

    /// Whether it was asked to stop.
    var isStopping: Bool { isStopped.withLock { $0 } }

    /// Has it end because the server does.
    func end(withServer: Void) {
        isEndedByServer.withLock { $0 = true }
        stop()
    }

    /// Runs it to its end.
    func run(_ body: () async throws(StatusError) -> Void) async {
        do throws(StatusError) {
            try await body()
        } catch {
            state.withLock { $0.failure = error.forForm }
        }
        if isEndedByServer.withLock({ $0 }) {
            state.withLock { $0.failure = localized("The server was stopped. What was done stays done.") }
        }
        state.withLock { $0.isOver = true }
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
