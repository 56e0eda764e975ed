import Testing
import UTF8Text

@Suite struct SimulatedDiskTests {
    private let folder = Inode(number: 1, isFolder: true)
    private let file = Inode(number: 2, isFolder: false)

    /// A disk with a folder `d`, in which a file `a` was created, written and renamed to `b`.
    private func renamed() -> SimulatedDisk {
        var disk = SimulatedDisk()
        disk.perform(.setEntries(folder: .root, [.init(name: "d", target: folder)]), end: 1)
        disk.perform(.setEntries(folder: folder, [.init(name: "a", target: file)]), end: 2)
        disk.perform(.write(file, offset: 0, FileBytes([1, 2, 3])), end: 3)
        disk.perform(.setEntries(folder: folder, [.init(name: "a", target: nil), .init(name: "b", target: file)]), end: 4)
        return disk
    }

    private func paths(_ tree: FileTree) -> [String] {
        tree.items.map { $0.path.map(\.string).joined(separator: "/") }
    }

    @Test func `Operations are not durable without a sync`() {
        let disk = renamed()
        #expect(disk.durable == FileTree())
        #expect(disk.pending.count == 4)
        #expect(paths(disk.afterPowerCut { [$1.operation] }) == ["d", "d/b"])
        #expect(paths(disk.afterPowerCut { _, _ in [] }) == [])
    }

    @Test func `Syncing a file makes its bytes durable, but not its name`() {
        var disk = renamed()
        disk.synchronize(.inode(file), begin: 5)
        #expect(disk.durable.bytes(of: file) == FileBytes([1, 2, 3]))
        #expect(paths(disk.durable) == [])
    }

    @Test func `Syncing a folder makes its entries durable, but neither its own name nor file contents`() {
        var disk = renamed()
        disk.synchronize(.inode(folder), begin: 5)
        #expect(disk.durable.entries(of: folder) == ["b": file])
        #expect(disk.durable.bytes(of: file).count == 0)
        #expect(paths(disk.durable) == [])
        disk.synchronize(.inode(.root), begin: 5)
        #expect(paths(disk.durable) == ["d", "d/b"])
    }

    @Test func `Syncing everything makes everything durable`() {
        var disk = renamed()
        disk.synchronize(.everything, begin: 5)
        #expect(disk.pending.isEmpty)
        #expect(paths(disk.durable) == ["d", "d/b"])
    }

    @Test func `A sync does not cover concurrent operations`() {
        var disk = renamed()
        disk.synchronize(.everything, begin: 3)
        #expect(disk.pending.map(\.end) == [3, 4])
    }

    @Test func `A rename can be durable without the contents and the old name`() {
        let disk = renamed()
        let tree = disk.afterPowerCut { index, pending in index == 0 || index == 3 ? [pending.operation] : [] }
        #expect(tree.items == [.init(path: ["d"], bytes: nil), .init(path: ["d", "b"], bytes: FileBytes())])
    }

    @Test func `A write can leave nothing, its size, a prefix or its last sectors`() {
        let write = FileOperation.write(file, offset: 1_000, FileBytes([UInt8](repeating: 7, count: 1_100)))
        let partialOutcomes = write.partialOutcomes.map { partialOutcome in
            var tree = FileTree()
            for operation in partialOutcome { tree.apply(operation) }
            return tree.bytes(of: file)
        }
        #expect(partialOutcomes[0] == FileBytes())
        #expect(partialOutcomes[1] == FileBytes(count: 2_100))
        func has(_ range: Range<Int>, count: Int) -> Bool {
            var bytes = FileBytes([UInt8](repeating: 7, count: range.count))
            bytes = { bytes in
                var all = FileBytes(count: count)
                all.write(bytes, at: range.lowerBound)
                return all
            }(bytes)
            return partialOutcomes.contains(bytes)
        }
        #expect(has(1_000..<1_001, count: 1_001))
        #expect(has(1_000..<1_024, count: 1_024))
        #expect(has(1_000..<1_550, count: 1_550))
        #expect(has(1_000..<2_099, count: 2_099))
        #expect(has(1_536..<2_100, count: 2_100))
        #expect(has(2_048..<2_100, count: 2_100))
    }

    @Test func `Trees with the same files have the same digest`() {
        let disk = renamed()
        let whole = disk.afterPowerCut { [$1.operation] }
        #expect(whole.digest == disk.afterPowerCut { index, pending in index == 1 ? [] : [pending.operation] }.digest)
        #expect(whole.digest != disk.afterPowerCut { index, pending in index == 2 ? [] : [pending.operation] }.digest)
    }
}
