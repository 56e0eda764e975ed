import DocumentModel
import DocumentStore
import StrictJSON
import Synchronization
import Testing
import UTF8Text

extension StoreRequirement {
    /// The log of commits.
    static let changes = [
        StoreRequirement("The log has all commits in order, with what they changed") { store in
            try await store.set("c/a", 1)
            _ = try await store.commit([.set(DocumentPath("c/b"), [:]), .delete(DocumentPath("c/a"))])
            try await store.set("c/a", 3)
            let commits = try await store.firstCommits(3, after: .zero)
            #expect(commits.map(\.sequence.rawValue) == [1, 2, 3])
            #expect(try commits[1].changes.map(\.path) == [DocumentPath("c/b"), DocumentPath("c/a")])
            #expect(commits[1].changes.map(\.existedBefore) == [false, true])
            #expect(commits[1].changes.map { $0.after == nil } == [false, true])
            #expect(try await store.firstCommits(1, after: SequenceNumber(2)) == [commits[2]])
            let position = try await store.safePosition()
            #expect(position.lastSequence == commits[2].sequence)
            #expect(position.lastCommitTime == commits[2].time)
            #expect(position.canResume(after: .zero))
        },
        StoreRequirement("A reader of the log that is far behind gets every commit, once and in order") { store in
            for number in 1...150 { try await store.set("c/\(number % 7)", Int64(number)) }
            let reader = Task { try await store.firstCommits(300, after: .zero) }
            for number in 151...300 { try await store.set("c/\(number % 7)", Int64(number)) }
            let commits = try await reader.value
            #expect(commits.map(\.sequence.rawValue) == Array(1...300))
            let values = try commits.map { try $0.changes.first?.after?.decoded().fields["v"] }
            #expect(values == (1...300).map { .integer($0) })
            for start in [UInt64(0), 40, 299, 300] {
                let batch = store.commits(after: SequenceNumber(start)).firstBatchInMemory()
                #expect(batch.map(\.sequence) == commits.dropFirst(Int(start)).prefix(batch.count).map(\.sequence))
            }
        },
        StoreRequirement("The before-image of a change, where there is one, is the document before the commit") { store in
            for number in 1...5 { try await store.set("c/a", Int64(number)) }
            try await store.delete("c/a")
            var before: EncodedDocument?
            for commit in try await store.firstCommits(6, after: .zero) {
                let change = try #require(commit.changes.first)
                #expect(change.existedBefore == (before != nil))
                if let image = change.before { #expect(image == before) }
                before = change.after
            }
            #expect(before == nil)
        },
        StoreRequirement("A reader of the log waits for commits, and ends when it is cancelled") { store in
            let reader = Task { try await store.firstCommits(3, after: .zero).map(\.sequence.rawValue) }
            for number in 1...3 { try await store.set("c/a", Int64(number)) }
            #expect(try await reader.value == [1, 2, 3])
            let waiting = Task { try await store.firstCommits(1, after: SequenceNumber(3)) }
            await Task.yield()
            waiting.cancel()
            #expect(try await waiting.value.isEmpty)
        },
        StoreRequirement("A position in the future is out of range") { store in
            try await store.set("c/a", 1)
            #expect(try await !store.safePosition().canResume(after: SequenceNumber(2)))
            await expectError(.outOfRange) { _ = try await store.firstCommits(1, after: SequenceNumber(2)) }
        },
        StoreRequirement("The known position is never ahead of a safe one, and reaches it") { store in
            for number in 1...20 {
                try await store.set("c/a", Int64(number))
                let known = store.position
                let safe = try await store.safePosition()
                let next = store.position
                #expect(next.isBehind || next.lastSequence >= safe.lastSequence)
                #expect(known.lastSequence <= safe.lastSequence && known.oldestRetained <= safe.oldestRetained)
                #expect(safe.lastSequence == SequenceNumber(UInt64(number)))
            }
            for _ in 0..<1_000 where store.position.lastSequence < SequenceNumber(20) {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(store.position == (try await store.safePosition()))
        },
        StoreRequirement("A position before the retained commits is out of range", history: .short) { store in
            try await store.set("c/a", 1)
            try await store.exceedHistory()
            let position = try await store.safePosition()
            #expect(!position.canResume(after: .zero))
            await expectError(.outOfRange) { _ = try await store.firstCommits(1, after: .zero) }
            let oldest = try await store.firstCommits(1, after: position.lastSequence.previous)
            #expect(oldest.map(\.sequence) == [position.lastSequence])
        },
        StoreRequirement("A notification arrives once: immediately if a commit exists, otherwise with the next one") { store in
            let counts = Mutex((past: 0, next: 0, cancelled: 0))
            try await store.set("c/a", 1)
            let last = try await store.lastSequence
            // Read from the log, so that the commit is known.
            _ = try await store.firstCommits(1, after: .zero)
            _ = store.notify(after: .zero) { counts.withLock { $0.past += 1 } }
            _ = store.notify(after: last) { counts.withLock { $0.next += 1 } }
            store.notify(after: last) { counts.withLock { $0.cancelled += 1 } }.cancel()
            #expect(counts.withLock { $0 } == (1, 0, 0))
            for number in 2...4 { try await store.set("c/a", Int64(number)) }
            _ = try await store.firstCommits(4, after: .zero)
            for _ in 0..<1_000 where counts.withLock({ $0.next }) == 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(counts.withLock { $0 } == (1, 1, 0))
        },
        StoreRequirement("A safe position includes every commit that was read") { store in
            let epoch = store.position.epoch
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for number in 1...50 { try await store.set("c/a", Int64(number)) } }
                group.addTask {
                    for _ in 0..<50 {
                        let time = try await store.document(at: DocumentPath("c/a"))?.updateTime
                        let position = try await store.safePosition()
                        #expect(time.map { $0 <= position.lastCommitTime ?? .minimum } ?? true)
                    }
                }
                try await group.waitForAll()
            }
            #expect(store.position.epoch == epoch)
            #expect(try await store.lastSequence == SequenceNumber(50))
        },
    ]
}
