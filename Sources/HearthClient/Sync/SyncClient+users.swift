internal import DocumentModel
internal import HearthTransport
internal import SyncEngine

extension SyncClient {
    var isNetworkEnabled: Bool { !isTerminated && engine.isNetworkEnabled }

    nonisolated func setNetworkEnabled(_ isEnabled: Bool, _ completion: @escaping @Sendable () -> Void) {
        submit { client in
            client.commits.resetBackoff()
            client.perform { (engine) throws(StatusError) in isEnabled ? try engine.enableNetwork() : engine.disableNetwork() }
            client.resumeCommits()
            let wait = CommonWait(count: client.abandonedQueues.count + 1) { _ in completion() }
            for session in client.abandonedQueues { session.setNetworkEnabled(isEnabled) { wait.end(nil) } }
            wait.end(nil)
        }
    }

    nonisolated func changeUser(to user: UserID) {
        let connectionUser = connection.establishUser()
        submit { client in
            client.lastUserChange += 1
            client.changeUser(to: user, connectionUser, client.lastUserChange)
        }
    }

    /// - Parameter number: The number of the change, which is repeated until the cache has stored it or a later one follows.
    private func changeUser(to user: UserID, _ connectionUser: IDTokenCache.User?, _ number: UInt64) {
        guard !isTerminated, number == lastUserChange else { return }
        commits.resetBackoff()
        if user != engine.user {
            userGeneration += 1
            let previous = commits.user
            commits.user = connectionUser
            endStreamOfUser()
            isChangingUser = !perform { (engine) throws(StatusError) in try engine.changeUser(to: user) }
            guard !isChangingUser else {
                // The batches of the previous user are not sent for this one.
                commits.user = previous
                Task { [weak self] in
                    guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                    await self?.changeUser(to: user, connectionUser, number)
                }
                return
            }
            for handler in rejectionHandlers.values { repeatRejections(to: handler) }
            // Queues that other processes have left wait until the previous user is back.
            for session in abandonedQueues {
                Task { await session.terminate() }
            }
            (abandonedQueues, forwardedHandlers) = ([], [:])
        } else {
            isChangingUser = false
            commits.user = connectionUser
            for session in abandonedQueues { session.changeUser(to: user) }
        }
        resumeCommits()
    }
}
