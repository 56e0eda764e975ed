package import DocumentModel
internal import HearthWire
package import StrictJSON
internal import Synchronization

/// The identities of a connection's commits, with which the server applies a commit once, however often it is sent.
///
/// The commits of one client ID are made one after the other. Concurrent ones have IDs of their own, as many as there are connections for
/// them; further ones wait. A commit is sent again for a short time only, so the IDs are those of short-lived clients.
final class CommitIdentityPool: Sendable {
    /// The identity of a commit.
    struct Identity: Sendable {
        fileprivate let client: CommitClientID
        fileprivate let number: Int
        /// True if a commit of the client has been made, so that the server remembers the client.
        fileprivate var isRemembered = false

        /// Writes the `identity` parameter of a commit.
        func write(to params: inout JSONWriter) {
            // The one before has been answered.
            params.identity(client, UInt64(number), after: UInt64(number - 1))
        }
    }

    /// The answer to a commit.
    enum Answer: Sendable {
        /// The commit was made.
        case committed
        /// The commit was refused.
        case refused
        /// There is none, or it does not say whether the commit was made.
        case none
    }

    private struct State {
        /// The number of identities that may be taken.
        var available: Int
        /// The identities for the next commits.
        var idle: [Identity] = []
        /// The commits that wait for an identity, in order.
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var waitCount = 0
        var isSupported = true
    }

    private let state: Mutex<State>

    /// - Parameter maximumCount: The maximum number of identities that are in use at a time.
    init(maximumCount: Int) {
        state = Mutex(State(available: maximumCount))
    }

    /// Returns an identity that no other commit has, as soon as one may be taken; `nil` if the server does not know identities.
    ///
    /// - Throws: `.cancelled` if the task is cancelled.
    func next() async throws(StatusError) -> Identity? {
        while true {
            let (isSupported, identity) = state.withLock { state -> (Bool, Identity?) in
                guard state.isSupported, state.available > 0 else { return (state.isSupported, nil) }
                state.available -= 1
                // The one that was used last, so that few IDs are used.
                return (true, state.idle.popLast() ?? Identity(client: .random().shortLived, number: 1))
            }
            guard isSupported, identity == nil else { return identity }
            await wait()
            if Task.isCancelled { throw StatusError(.cancelled, "The call was cancelled.") }
        }
    }

    /// Gives an identity back after its commit, which lets the next one take it.
    ///
    /// The ID of a commit without an answer is not used again. Neither is that of a client all of whose commits were refused, since a server
    /// that restarts forgets it.
    func giveBack(_ identity: Identity, after answer: Answer) {
        let next = state.withLock { state in
            state.available += 1
            if answer == .committed || answer == .refused && identity.isRemembered, state.isSupported {
                state.idle.append(Identity(client: identity.client, number: identity.number + 1, isRemembered: true))
            }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst().continuation
        }
        next?.resume()
    }

    /// Records that the server does not know identities.
    func disable() {
        let waiting = state.withLock { state in
            state.isSupported = false
            state.idle = []
            defer { state.waiting = [] }
            return state.waiting
        }
        for (_, continuation) in waiting { continuation.resume() }
    }

    /// Waits until an identity is given back, or until the task is cancelled.
    private func wait() async {
        let id = state.withLock { state in
            state.waitCount += 1
            return state.waitCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.available == 0, state.isSupported, !Task.isCancelled else { return true }
                    state.waiting.append((id, continuation))
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiting.remove(at: index).continuation
            }
            continuation?.resume()
        }
    }
}

extension JSONWriter {
    /// Writes the `identity` parameter of a commit.
    package mutating func identity(_ client: CommitClientID, _ number: UInt64, after: UInt64) {
        key(CommitKeys.identity)
        beginObject()
        member(CommitIdentityKeys.client, client.text)
        key(CommitIdentityKeys.number)
        integer(Int64(clamping: number))
        key(CommitIdentityKeys.after)
        integer(Int64(clamping: after))
        endObject()
    }
}
