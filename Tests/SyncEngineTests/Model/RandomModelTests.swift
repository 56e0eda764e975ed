import DocumentModel
import SyncCache
import SyncEngine
import TestSupport
import Testing
import UTF8Text

@Suite("Clients of a serial server")
struct RandomModelTests {
    /// Several clients write, change their users, lose their connection, answers and processes, and are told of changes late. Whatever
    /// happens, their events replay to what they show, no event is without a change, a counter never goes back while it is shown
    /// to the same user, and in the end all show what the server has.
    @Test(arguments: (0..<40).map { SeededGenerator.currentSeed &+ $0 })
    func `All clients converge`(seed: UInt64) throws {
        var clients = (0..<3).map { ModelClient(number: $0, cache: MemoryCache(isEager: seed.isMultiple(of: 4))) }
        try run(&clients, stepCount: 200, seed)
    }

    /// The same with a server that is restored from a backup now and then, and begins a new epoch. What clients have queued is made once.
    @Test(arguments: (0..<40).map { SeededGenerator.currentSeed &+ $0 })
    func `All clients converge with a server that goes back to earlier states`(seed: UInt64) throws {
        var clients = (0..<3).map { ModelClient(number: $0, cache: MemoryCache(isEager: seed.isMultiple(of: 4))) }
        try run(&clients, stepCount: 200, restoreEvery: 40, seed)
    }

    /// The same with caches on disk, which are closed and opened again when a process ends, or copied as a kill would leave them.
    @Test(arguments: (0..<8).map { SeededGenerator.currentSeed &+ $0 })
    func `Clients with persistent caches converge`(seed: UInt64) throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var copyCount = 0
        var folders: [Int: String] = [:]
        var clients = try (0..<3).map { number in
            folders[number] = "\(number)"
            return ModelClient(
                number: number,
                cache: try PersistentCache(folder: folder["\(number)"], isEager: seed.isMultiple(of: 4)),
                reopening: { cache in
                    copyCount += 1
                    if copyCount.isMultiple(of: 2), let previous = folders[number] {
                        folders[number] = "copy-\(copyCount)"
                        try folder.copy(previous, to: "copy-\(copyCount)")
                    }
                    cache.close()
                    return try PersistentCache(folder: folder[folders[number] ?? ""], isEager: cache.isEager)
                }
            )
        }
        try run(&clients, stepCount: 120, seed)
    }

    /// The same with limited views that are refilled in steps, between which everything else happens.
    @Test func `Clients whose views are refilled in steps converge`() throws {
        var refillCount = 0
        for seed in (0..<10).map({ SeededGenerator.currentSeed &+ $0 }) {
            var clients = (0..<3).map { number in
                let cache = PersistentCache.inMemory(isEager: seed.isMultiple(of: 4))
                return ModelClient(number: number, cache: cache, maximumRefillCount: 1)
            }
            refillCount += try run(&clients, stepCount: 200, seed)
        }
        // A single run may need none.
        #expect(refillCount > 0)
    }

    @discardableResult
    private func run(
        _ clients: inout [ModelClient<some LocalCache>],
        stepCount: Int,
        restoreEvery restoreStep: Int? = nil,
        _ seed: UInt64
    ) throws -> Int {
        var random = SeededGenerator(seed: seed)
        var server = SerialServer()
        for index in clients.indices {
            try clients[index].listen(to: ModelQuery(document: RandomModel.counterPath))
            for query in try RandomModel.queries(&random) { try clients[index].listen(to: query) }
        }
        var increments: Int64 = 0
        var refillCount = 0
        for step in 0..<stepCount {
            let index = Int.random(in: clients.indices, using: &random)
            increments += try RandomModel.step(step, &clients[index], &server, &random)
            if clients[index].needsRefills, random.chance(30) {
                clients[index].continueRefills()
                refillCount += 1
            }
            guard let restoreStep, (step + 1).isMultiple(of: restoreStep) else { continue }
            let lost = server.restore(&random)
            for index in clients.indices {
                increments -= try clients[index].lostIncrements(lost)
                // The streams end with the server.
                clients[index].breakStreams()
            }
        }
        for index in clients.indices where !clients[index].isEnabled { try clients[index].setNetwork(enabled: true) }
        for round in 0..<8 {
            for index in clients.indices {
                if round < 4 { try clients[index].changeUser() }
                try clients[index].settle(with: &server, &random)
            }
        }
        for client in clients { try client.checkConvergence(with: server) }
        let counter = server.documents[RandomModel.counterPath]?.fields["n"]
        #expect(counter == (increments == 0 ? nil : .integer(increments)))
        return refillCount
    }
}
