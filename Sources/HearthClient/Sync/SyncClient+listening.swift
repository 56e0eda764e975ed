internal import DocumentModel
internal import SyncEngine

extension SyncClient {
    nonisolated func listen(
        to query: ViewQuery,
        _ options: ListenOptions,
        ended: @escaping @Sendable () -> Void,
        _ handler: @escaping @Sendable (Result<SyncSnapshot, StatusError>) -> Void
    ) -> ListenerID {
        let id = nextID()
        submit { client in
            guard !client.isTerminated else { return handler(.failure(.terminated)) }
            client.listeners[id] = Listener(receive: handler, end: ended)
            client.listen(id, to: query, options)
        }
        return id
    }

    private func listen(_ id: ListenerID, to query: ViewQuery, _ options: ListenOptions) {
        scanInSteps { (engine, scan, maximumCount) throws(StatusError) in
            try engine.listen(id, to: query, options: options, continuing: scan, maximumCount: maximumCount)
        } while: { client in
            client.listeners[id] != nil
        } completion: { client, result in
            switch result {
            case .success(let effects):
                client.add(effects)
            case .failure(let error):
                client.flush()
                client.listeners.removeValue(forKey: id)?.receive(.failure(error))
            }
        }
    }

    nonisolated func removeListener(_ id: ListenerID) {
        submit { client in
            guard client.listeners.removeValue(forKey: id) != nil else { return }
            client.perform { $0.unlisten(id) }
        }
    }

    nonisolated func addSnapshotsInSyncListener(_ handler: @escaping @Sendable () -> Void) -> ListenerID {
        let id = nextID()
        submit { client in
            guard !client.isTerminated else { return }
            client.snapshotsInSyncListeners[id] = handler
            client.perform { $0.addSnapshotsInSyncListener(id) }
        }
        return id
    }

    nonisolated func removeSnapshotsInSyncListener(_ id: ListenerID) {
        submit { client in
            guard client.snapshotsInSyncListeners.removeValue(forKey: id) != nil, !client.isTerminated else { return }
            client.engine.removeSnapshotsInSyncListener(id)
        }
    }
}
