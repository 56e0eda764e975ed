package import DocumentModel
import DocumentStore
import Logging
package import StrictJSON
import Synchronization

extension AccessKeys {
    /// How many keys there may be.
    private static let maximumCount = 1_000

    /// Makes a key; it is in force and on disk when this returns.
    ///
    /// - Returns: The key, and its text, which is shown this once: it is kept nowhere.
    /// - Throws: ``StatusCode/resourceExhausted`` when there are too many keys.
    package func create(_ description: AccessKey.Description) async throws(StatusError) -> (key: AccessKey, text: String) {
        let secret = KeySecret()
        let key = AccessKey(description, secret: secret, at: now())
        try await change { keys throws(StatusError) in
            guard keys.count < Self.maximumCount else {
                throw StatusError(
                    .resourceExhausted,
                    "There are \(Self.maximumCount) keys, and no more are allowed. Revoke those that are not used."
                )
            }
            keys.append(key)
        }
        logger.notice("A key was made", metadata: ["key.id": "\(key.id)", "key.role": "\(key.role.rawValue)"])
        return (key, secret.text)
    }

    /// Revokes a key; it is refused, its streams are ended, and that is on disk when this returns.
    ///
    /// - Throws: ``StatusCode/notFound`` when there is none of that ID.
    package func revoke(_ id: UTF8Key) async throws(StatusError) {
        try await change { keys throws(StatusError) in
            guard let index = keys.firstIndex(where: { $0.id == id }) else { throw Self.noKey(id) }
            keys.remove(at: index)
        }
        logger.notice("A key was revoked", metadata: ["key.id": "\(id)"])
    }

    private static func noKey(_ id: UTF8Key) -> StatusError {
        // Whoever gives a key in place of its ID must not find it in a log of errors.
        let what =
            KeySecret.isSimilar(to: id.string)
            ? "Expected the ID of a key, not the key." : "There is no key with the ID \(Excerpt(id.string))."
        return StatusError(.notFound, "\(what) The IDs are what keys.list and `hearth keys list` show.")
    }

    private func change(_ change: @escaping @Sendable (inout [AccessKey]) throws(StatusError) -> Void) async throws(StatusError) {
        guard let file else {
            var keys = all
            try change(&keys)
            let ended = state.withLock { [keys, now = now()] state in
                state.take(KeyList(keys: keys))
                return state.takeEnded(at: now)
            }
            for end in ended { end() }
            return
        }
        try await replace(file) { keys throws(StatusError) in
            try change(&keys)
            return true
        }
    }

    /// Changes the file, writing with it when keys were used, and takes what it then says.
    ///
    /// - Parameter change: Gives whether there is something to write.
    private func replace(
        _ file: SideFile,
        _ change: @escaping @Sendable (inout [AccessKey]) throws(StatusError) -> Bool
    ) async throws(StatusError) {
        let known = state.withLock { state in
            state.hasNewUses = false
            return state.keys
        }
        do throws(StatusError) {
            try adopt(
                await file.replace { bytes throws(StatusError) in
                    var list = try KeyList(ofFile: bytes)
                    for index in list.keys.indices { list.keys[index].noteUse(known[list.keys[index].id]?.lastUseTime) }
                    return try change(&list.keys) ? list.encoded() : nil
                }
            )
        } catch {
            state.withLock { $0.hasNewUses = true }
            throw error
        }
    }

    /// Takes what the file says, unless something later is known.
    func adopt(_ reading: SideFile.Reading) throws(StatusError) {
        let list = try KeyList(ofFile: reading.bytes)
        let ended: [EndingObservation.Callback] = state.withLock { [now = now()] state in
            guard reading.number > state.reading else { return [] }
            (state.reading, state.version) = (reading.number, reading.version)
            state.take(list)
            return state.takeEnded(at: now)
        }
        for end in ended { end() }
    }
}

extension AccessKeys.State {
    /// Takes keys in place of those there were.
    mutating func take(_ list: KeyList) {
        let known = keys
        keys = [:]
        for var key in list.keys {
            key.noteUse(known[key.id]?.lastUseTime)
            keys[key.id] = key
        }
        order = list.keys.map(\.id)
        isRequired = true
    }
}

extension AccessKeys {
    /// How often it is looked whether the file has changed and keys have expired.
    private static let interval = Duration.seconds(1)
    /// After how many of these the times of the last uses are written to the file.
    private static let intervalsBetweenWrites = 60

    /// Follows changes of the file until the task is cancelled, and keeps in it when keys were used.
    package func follow() async {
        var count = 0
        while (try? await Task.sleep(for: Self.interval)) != nil {
            await refresh()
            count += 1
            if count.isMultiple(of: Self.intervalsBetweenWrites) { await writeUses() }
        }
        // Not by this task, which is cancelled.
        await Task.detached { await self.writeUses() }.value
    }

    /// Takes over what the file says now, and ends who is not valid any more.
    ///
    /// A file that can't be read leaves the keys as they were; one that is gone leaves none.
    package func refresh() async {
        do throws(StatusError) {
            try await readChanges()
        } catch {
            logger.error("The keys can't be read; those known before are in force", metadata: ["error": "\(error)"])
        }
        let ended = state.withLock { [now = now()] state in state.takeEnded(at: now) }
        for end in ended { end() }
    }

    private func readChanges() async throws(StatusError) {
        guard let file else { return }
        let version = try await file.version()
        let known = state.withLock(\.version)
        guard version != known else { return }
        let reading = try await file.reading()
        do throws(StatusError) {
            try adopt(reading)
            if reading.bytes == nil {
                logger.warning(
                    "The file of the keys is gone, so no key is known any more. Start the server again to serve without keys"
                )
            } else {
                logger.notice("The keys were changed by another process", metadata: ["keys.count": "\(all.count)"])
            }
        } catch {
            // Not told again before the file is another.
            state.withLock { $0.version = reading.version }
            throw error
        }
    }

    private func writeUses() async {
        guard let file, state.withLock(\.hasNewUses) else { return }
        do throws(StatusError) {
            try await replace(file) { keys throws(StatusError) in !keys.isEmpty }
        } catch {
            logger.warning("It can't be kept when keys were used", metadata: ["error": "\(error)"])
        }
    }
}

extension AccessKey {
    fileprivate mutating func noteUse(_ time: Timestamp?) {
        lastUseTime = [lastUseTime, time].compactMap(\.self).max()
    }
}
