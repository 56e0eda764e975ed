internal import DocumentModel
internal import SyncEngine

extension SyncClient {
    nonisolated func setIndexAutoCreation(_ isEnabled: Bool) {
        submit { client in
            guard !client.isTerminated else { return }
            client.engine.createsIndexes = isEnabled
        }
    }

    nonisolated func removeIndexes() {
        submit { client in
            guard !client.isTerminated else { return }
            do throws(StatusError) {
                try client.withEngine { (engine) throws(StatusError) in try engine.removeIndexes() }
            } catch {
                client.report(error)
            }
            client.fillIndexes()
        }
    }

    /// Fills incomplete indexes, and deletes the entries of removed ones, in small transactions, between which everything else has its turn.
    func fillIndexes() {
        guard !isTerminated, !isFillingIndexes, engine.hasIncompleteIndexes else { return }
        isFillingIndexes = true
        submit { client in
            client.isFillingIndexes = false
            guard !client.isTerminated else { return }
            do throws(StatusError) {
                try client.withEngine { (engine) throws(StatusError) in try engine.fillIndexes() }
            } catch {
                client.report(error)
            }
            client.fillIndexes()
        }
    }
}
