internal import DocumentModel
internal import SyncEngine

// Inputs of the engine, and their effects.
extension SyncClient {
    /// Gives the engine an input. An error of the cache is reported.
    ///
    /// - Returns: False if the input had no effect, for lack of the cache.
    @discardableResult
    func perform(_ input: (inout SyncEngine<Cache>) throws(StatusError) -> [SyncEffect]) -> Bool {
        do throws(StatusError) {
            try performThrowing(input)
            return true
        } catch {
            report(error)
            return false
        }
    }

    /// Gives the engine an input, and carries out its effects.
    ///
    /// - Parameter isRepeatable: True to repeat the input after damage of the cache. Targets then have other IDs.
    func performThrowing(
        isRepeatable: Bool = false,
        _ input: (inout SyncEngine<Cache>) throws(StatusError) -> [SyncEffect]
    ) throws(StatusError) {
        guard !isTerminated else { throw .terminated }
        let effects: [SyncEffect]
        do throws(StatusError) {
            effects = isRepeatable ? try withEngine(input) : try input(&engine)
        } catch {
            flush()
            throw error
        }
        add(effects)
    }

    /// Calls the engine. If its cache turns out to be damaged, the files are opened again, and the call is repeated.
    func withEngine<Result>(
        _ body: (inout SyncEngine<Cache>) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        do throws(StatusError) {
            return try body(&engine)
        } catch {
            guard reopenDamagedCache() else { throw error }
            submitFlush()
            return try body(&engine)
        }
    }

    /// Opens the files of the cache again, if they are damaged or gone. The effects are those of the engine that goes on with them.
    ///
    /// - Returns: False if there was no damage, or if the files cannot be opened now.
    private func reopenDamagedCache() -> Bool {
        guard nextReopening <= .now else { return false }
        do throws(StatusError) {
            guard let reopened = try storage.reopen(engine.cache) else { return false }
            if !reopened.keepsNumbers { hasLostNumbers = true }
            do throws(StatusError) {
                let changes = try engine.replaceCache(with: reopened.cache, keepsNumbers: !hasLostNumbers)
                effects += changes
            } catch {
                storage.close(reopened.cache)
                throw error
            }
            hasLostNumbers = false
            problem = reopened.problem ?? problem
            savedClock = ServerClock()
            // The targets have other IDs.
            stream.end()
            // Among them are batches that were recovered, and that may have been made.
            for handler in rejectionHandlers.values { repeatRejections(to: handler) }
            return true
        } catch {
            // It may have recovered a part of the queue before it failed.
            hasLostNumbers = true
            report(error)
            nextReopening = .now + .seconds(1)
            return false
        }
    }

    func add(_ effects: [SyncEffect]) {
        self.effects += effects
        flush()
    }

    /// Carries out the effects after everything that has been submitted so far, so that writes share a sync.
    func submitFlush() {
        guard !isFlushSubmitted else { return }
        isFlushSubmitted = true
        submit { client in
            client.isFlushSubmitted = false
            client.flush()
        }
    }

    /// Makes the queue durable, and carries out the effects. Without durability, nothing is sent, and nobody is told that it is queued.
    func flush() {
        guard !isTerminated else { return }
        _ = reopenDamagedCache()
        let isDurable = synchronize()
        let effects = isDurable ? heldSends + self.effects : self.effects
        (self.effects, heldSends) = ([], isDurable ? [] : heldSends)
        for effect in effects {
            switch effect {
            case .send where !isDurable: heldSends.append(effect)
            case .stopSending:
                heldSends = []
                carryOut(effect)
            default: carryOut(effect)
            }
        }
        if isDurable {
            let handlers = queuedHandlers
            queuedHandlers = []
            for handler in handlers { handler(nil) }
        }
        sendCommits()
        refillViews()
        fillIndexes()
        if !drainHandlers.isEmpty { endIfDrained() }
    }

    private func synchronize() -> Bool {
        do throws(StatusError) {
            try withEngine { (engine) throws(StatusError) in try engine.synchronizeQueue() }
            return true
        } catch {
            report(error)
            guard !isSyncRetryScheduled else { return false }
            isSyncRetryScheduled = true
            Task { [weak self] in
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                await self?.retrySync()
            }
            return false
        }
    }

    private func retrySync() {
        isSyncRetryScheduled = false
        flush()
    }

    func carryOut(_ effect: SyncEffect) {
        switch effect {
        case .raise(let id, let snapshot):
            let damaged = engine.target(of: id).map { stream.damaged(of: $0) } ?? [:]
            let errors = damaged.sorted { $0.key < $1.key }.map(\.value)
            listeners[id]?.receive(.success(SyncSnapshot(view: snapshot, damaged: errors)))
        case .fail(let id, let error):
            listeners.removeValue(forKey: id)?.receive(.failure(error))
        case .raiseSnapshotsInSync(let ids):
            for id in ids { snapshotsInSyncListeners[id]?() }
        case .openTarget(let request):
            openTarget(request)
        case .closeTarget(let target):
            closeTarget(target)
        case .readDocuments(let paths):
            readLimboDocuments(paths)
        case .send(let batch, let identity):
            commits.append(batch, identity)
        case .stopSending:
            commits.stop()
        case .complete(let id, let error, let rejected):
            complete(id, error, rejected)
        case .reportRejection(let batch):
            report(batch)
        case .endWait(let id, let error):
            waits.removeValue(forKey: id)?(error)
        case .startOnlineStateTimer:
            onlineStateTimer?.cancel()
            onlineStateTimer = Task { [weak self] in
                guard (try? await Task.sleep(for: .seconds(10))) != nil else { return }
                await self?.fireOnlineStateTimer()
            }
        case .stopOnlineStateTimer:
            onlineStateTimer?.cancel()
        case .reportCacheError(let error):
            report(error)
        case .resendBatchesLater:
            resendLater()
        }
    }

    private func fireOnlineStateTimer() {
        guard !Task.isCancelled else { return }
        perform { $0.onlineStateTimerFired() }
    }

    private func complete(_ id: WriteID, _ error: StatusError?, _ rejected: RejectedBatch?) {
        guard let completion = completions.removeValue(forKey: id) else { return }
        guard let rejected else { return completion.handler(error) {} }
        // If the caller is not told since the process ends, the application is told by a later one.
        untold[id] = (rejected, engine.user)
        completion.handler(error) { [weak self] in
            self?.submit { client in
                guard let (batch, user) = client.untold.removeValue(forKey: id) else { return }
                client.forget(batch.number, of: user)
            }
        }
    }

    func report(_ batch: RejectedBatch) {
        guard rejectionHandlers.isEmpty else {
            for handler in rejectionHandlers.values { handler.receive(batch, engine.user, self) }
            return
        }
        ClientLog.write("writes of an earlier call were rejected: \(batch.message)")
    }

    /// Reports an error of the cache that nobody waits for. One that goes on is reported each minute.
    func report(_ error: StatusError) {
        guard error.code != .cancelled, !isTerminated else { return }
        let text = "\(error)"
        if let lastReport, lastReport.text == text, lastReport.time.duration(to: .now) < .seconds(60) { return }
        lastReport = (text, .now)
        ClientLog.write("local cache: \(text)")
    }
}
