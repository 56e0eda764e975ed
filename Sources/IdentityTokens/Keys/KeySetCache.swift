package import DocumentModel
import Synchronization
import UTF8Text

/// The key sets of the configured issuers.
///
/// Keys from files are set with ``update(_:to:)``. Keys from URLs are fetched when they are first needed and again before their
/// lifetime ends, in the background. A set stays in use when its refresh fails. The cache itself does no I/O.
package final class KeySetCache: Sendable {
    /// A function that fetches an issuer's key set. It must end when its task is cancelled.
    package typealias Fetch = @Sendable (TokenIssuer) async throws -> FetchedKeySet

    fileprivate struct Entry {
        var keys: VerificationKeySet?
        /// The number of changes of the keys.
        var generation = 0
        /// The lifetime of the keys; `nil` for keys that are not fetched.
        var lifetime: Lifetime?
        /// The earliest time of the next fetch; `nil` before the first one.
        var earliestFetch: ContinuousClock.Instant?
        /// The running fetch, which all callers share.
        var refresh: Task<Void, Never>?
    }

    fileprivate struct Lifetime {
        /// The time from which the keys are refreshed in the background.
        let refreshTime: ContinuousClock.Instant
        /// The time from which callers wait for a refresh.
        let endTime: ContinuousClock.Instant

        init(from start: ContinuousClock.Instant, maxAge: Duration?) {
            let age = min(max(maxAge ?? KeySetCache.defaultAge, KeySetCache.minimumAge), KeySetCache.maximumAge)
            refreshTime = start + age * 4 / 5
            endTime = start + age
        }
    }

    private let entries = Mutex<[UTF8Key: Entry]>([:])
    private let fetch: Fetch
    private let report: @Sendable (KeySetEvent) -> Void
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void

    fileprivate static let minimumAge = Duration.seconds(5 * 60)
    fileprivate static let maximumAge = Duration.seconds(24 * 60 * 60)
    /// The lifetime of a set that was sent without one.
    fileprivate static let defaultAge = Duration.seconds(60 * 60)
    /// The interval between two fetches of an issuer's set. Tokens with invented key IDs cause no more than that.
    private static let fetchInterval = Duration.seconds(60)
    /// The interval between two fetches while there is no set.
    private static let retryInterval = Duration.seconds(10)
    private static let fetchTimeLimit = Duration.seconds(5)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - fetch: Fetches the set of an issuer whose source is a URL. It is cancelled after 5 seconds.
    ///   - report: Receives the events, for the log.
    ///   - now: Returns the current time.
    ///   - sleep: Waits for a duration.
    package init(
        fetch: @escaping Fetch,
        report: @escaping @Sendable (KeySetEvent) -> Void = { _ in },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.fetch = fetch
        self.report = report
        self.now = now
        self.sleep = sleep
    }

    /// Replaces the keys of an issuer with the contents of its file.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if no key is usable. The previous keys then stay in use.
    package func update(_ issuer: TokenIssuer, to bytes: [UInt8]) throws(StatusError) {
        let keys = try VerificationKeySet(decoding: bytes, for: issuer)
        let lifetime = issuer.keySource.isFetched ? Lifetime(from: now(), maxAge: nil) : nil
        let hasChanged = withEntry(of: issuer) { $0.replaceKeys(with: keys, lifetime: lifetime) }
        report(.loaded(issuer, keys, hasChanged: hasChanged))
    }

    /// Returns the keys of an issuer. Fetches them if there are none or their lifetime has ended.
    ///
    /// - Returns: The last good keys if the fetch fails; `nil` if there have never been any.
    func keySet(of issuer: TokenIssuer) async -> LoadedKeySet? {
        let (loaded, refresh) = withEntry(of: issuer) { entry in
            let now = now()
            let hasEnded = entry.keys == nil || entry.lifetime.map { $0.endTime <= now } ?? false
            let refresh = startRefreshIfDue(&entry, issuer, now)
            return (entry.loaded, hasEnded ? refresh : nil)
        }
        guard let refresh else { return loaded }
        await refresh.value
        return withEntry(of: issuer) { $0.loaded }
    }

    /// Returns the generation of an issuer's keys, or `nil` if there are none. Starts a refresh in the background if it is due.
    func generation(of issuer: TokenIssuer) -> Int? {
        withEntry(of: issuer) { entry in
            _ = startRefreshIfDue(&entry, issuer, now())
            return entry.loaded?.generation
        }
    }

    /// Fetches the keys of an issuer if the last fetch was at least a minute ago, or waits for the running fetch.
    ///
    /// - Returns: The current keys if they differ from those of a generation; otherwise `nil`.
    func refresh(_ issuer: TokenIssuer, after generation: Int) async -> LoadedKeySet? {
        let refresh = withEntry(of: issuer) { entry in
            entry.generation == generation ? startRefresh(&entry, issuer, now()) : nil
        }
        await refresh?.value
        return withEntry(of: issuer) { $0.generation == generation ? nil : $0.loaded }
    }

    /// Fetches the keys of an issuer if there are none or they are due for a refresh, and waits until they are loaded.
    ///
    /// A server calls this when it starts, so that the first users need not wait.
    package func refreshIfDue(_ issuer: TokenIssuer) async {
        await withEntry(of: issuer) { startRefreshIfDue(&$0, issuer, now()) }?.value
    }
}

/// A key set as an issuer sent it.
package struct FetchedKeySet: Sendable {
    /// The body of the response.
    package let bytes: [UInt8]
    /// The directive `max-age` of the field `Cache-Control` (RFC 9111, section 5.2.2.1), if there is one.
    package let maxAge: Duration?

    /// Creates a fetched set.
    package init(bytes: [UInt8], maxAge: Duration?) {
        self.bytes = bytes
        self.maxAge = maxAge
    }
}

/// An event of a ``KeySetCache``.
package enum KeySetEvent: Sendable {
    /// The keys of an issuer were loaded; they may be the same as before.
    case loaded(TokenIssuer, VerificationKeySet, hasChanged: Bool)
    /// A fetch failed, and the previous keys stay in use.
    case failed(TokenIssuer, any Error)
}

/// The keys of an issuer with their generation, which changes with the keys.
struct LoadedKeySet: Sendable {
    let keys: VerificationKeySet
    let generation: Int
}

extension KeySetCache {
    private func withEntry<Result>(of issuer: TokenIssuer, _ body: (inout sending Entry) -> sending Result) -> sending Result {
        entries.withLock { body(&$0[issuer.issuer, default: Entry()]) }
    }

    private func startRefreshIfDue(
        _ entry: inout Entry,
        _ issuer: TokenIssuer,
        _ now: ContinuousClock.Instant
    ) -> Task<Void, Never>? {
        let isDue = entry.keys == nil || entry.lifetime.map { $0.refreshTime <= now } ?? false
        return isDue ? startRefresh(&entry, issuer, now) : nil
    }

    /// Starts a fetch unless one is running or was started too recently.
    private func startRefresh(_ entry: inout Entry, _ issuer: TokenIssuer, _ now: ContinuousClock.Instant) -> Task<Void, Never>? {
        if let running = entry.refresh { return running }
        guard issuer.keySource.isFetched, entry.earliestFetch.map({ $0 <= now }) ?? true else { return nil }
        // Detached, with a trace of its own: it outlives the request that started it, and others wait for it too. Its time limit ends it.
        let refresh = Task.detached { await self.fetchKeys(of: issuer, startingAt: now) }
        entry.refresh = refresh
        return refresh
    }

    private func fetchKeys(of issuer: TokenIssuer, startingAt start: ContinuousClock.Instant) async {
        let event: KeySetEvent
        do {
            let fetched = try await fetchWithinTimeLimit(issuer)
            let keys = try VerificationKeySet(decoding: fetched.bytes, for: issuer)
            let hasChanged = withEntry(of: issuer) { entry in
                entry.endRefresh(earliestFetch: start + Self.fetchInterval)
                return entry.replaceKeys(with: keys, lifetime: Lifetime(from: start, maxAge: fetched.maxAge))
            }
            event = .loaded(issuer, keys, hasChanged: hasChanged)
        } catch {
            withEntry(of: issuer) { entry in
                entry.endRefresh(earliestFetch: start + (entry.keys == nil ? Self.retryInterval : Self.fetchInterval))
            }
            event = .failed(issuer, error)
        }
        report(event)
    }

    /// Fetches a set, and gives up after the time limit even if `fetch` ignores its cancellation.
    private func fetchWithinTimeLimit(_ issuer: TokenIssuer) async throws -> FetchedKeySet {
        typealias FetchResult = Result<FetchedKeySet, any Error>
        let (results, continuation) = AsyncStream<FetchResult>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let fetching = Task {
            do {
                continuation.yield(.success(try await fetch(issuer)))
            } catch {
                continuation.yield(.failure(error))
            }
        }
        let timing = Task {
            try await sleep(Self.fetchTimeLimit)
            continuation.yield(.failure(Self.timeLimitError))
        }
        defer {
            fetching.cancel()
            timing.cancel()
        }
        for await result in results { return try result.get() }
        throw Self.timeLimitError
    }

    private static let timeLimitError =
        StatusError(.deadlineExceeded, "The key set was not received within \(fetchTimeLimit.components.seconds) seconds.")
}

extension KeySetCache.Entry {
    fileprivate var loaded: LoadedKeySet? {
        keys.map { LoadedKeySet(keys: $0, generation: generation) }
    }

    /// Returns whether the new keys differ from the previous ones.
    fileprivate mutating func replaceKeys(with newKeys: VerificationKeySet, lifetime: KeySetCache.Lifetime?) -> Bool {
        let hasChanged = keys?.identities != newKeys.identities
        if hasChanged { generation += 1 }
        keys = newKeys
        self.lifetime = lifetime
        return hasChanged
    }

    fileprivate mutating func endRefresh(earliestFetch: ContinuousClock.Instant) {
        refresh = nil
        self.earliestFetch = earliestFetch
    }
}
