import TestSupport
import Testing
import UTF8Text

@Suite("Hash slots")
struct HashSlotsTests {
    @Test(arguments: [0, 10, 5_000], [UInt64.max, 3])
    func `They find the elements that a dictionary finds`(capacity: Int, hashes: UInt64) {
        var generator = SeededGenerator()
        var numbers: [UInt64] = []
        var expected: [UInt64: Int] = [:]
        var slots = HashSlots(minimumCapacity: capacity)
        // With few distinct hashes nearly all elements collide.
        func hash(_ number: UInt64) -> UInt64 { (number % hashes) &* 0x9e37_79b9_7f4a_7c15 }
        for _ in 0..<1_000 {
            let number = UInt64.random(in: 0..<800, using: &generator)
            let position = slots.position(of: hash(number)) { numbers[$0] == number }
            #expect(position == expected[number], "seed \(generator.seed)")
            guard position == nil else { continue }
            expected[number] = numbers.count
            numbers.append(number)
            slots.insert(numbers.count - 1, hash(number)) { [numbers] in hash(numbers[$0]) }
        }
    }
}
