import TestSupport
import Testing
import UTF8Text

@testable import DocumentModel

@Suite("Value keys")
struct ValueKeyTests {
    private let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    @Test
    func `Keys compare like the values`() {
        var random = RandomValues(generator: SeededGenerator())
        let values = (0..<200).map { _ in random.value() }
        let keys = values.map { ValueKey($0).bytes }
        for (left, leftKey) in zip(values, keys) {
            for (right, rightKey) in zip(values, keys) {
                guard left.compared(to: right) == Comparison(bytes: leftKey, rightKey) else {
                    Issue.record("\(left) to \(right): \(leftKey) to \(rightKey); \(seed)")
                    return
                }
            }
        }
    }

    @Test
    func `Keys of numbers compare exactly, near all powers of two and beyond 2^53`() {
        var integers: [Int64] = [0, .min, .max]
        for exponent in 0..<63 {
            for distance in [-1_025, -513, -3, -2, -1, 0, 1, 2, 3, 512, 1_024] {
                let number = (Int64(1) << exponent) &+ Int64(distance)
                integers += [number, 0 &- number]
            }
        }
        let doubles = integers.flatMap { [Double($0), Double($0).nextUp, Double($0).nextDown, Double($0) + 0.5] }
        let numbers = (integers.map { Value.integer($0) } + doubles.map { .double($0) }).map { ($0, ValueKey($0).bytes) }
            .sorted { $0.1.lexicographicallyPrecedes($1.1) }
        for ((left, leftKey), (right, rightKey)) in zip(numbers, numbers.dropFirst()) {
            let expected: Comparison = leftKey == rightKey ? .equal : .less
            guard left.compared(to: right) == expected else {
                Issue.record("\(left) to \(right): \(leftKey) to \(rightKey)")
                return
            }
        }
    }

    @Test(
        arguments: [
            ValueOrderTests.pinned, ValueOrderTests.pinnedVectors, ValueOrderTests.pinnedArrays, ValueOrderTests.pinnedMaps,
            ValueOrderTests.pinnedTexts,
        ]
    )
    func `Keys compare in the documented order of values`(_ ranks: [[Value]]) {
        for rank in ranks { #expect(Set(rank.map { ValueKey($0) }).count == 1, "\(rank)") }
        for (left, right) in zip(ranks, ranks.dropFirst()) {
            #expect(ValueKey(left[0]).bytes.lexicographicallyPrecedes(ValueKey(right[0]).bytes), "\(left) to \(right)")
        }
    }

    @Test
    func `Keys have the documented encoding`() throws {
        #expect(ValueKey(.null).bytes == [0x10])
        #expect(ValueKey(.boolean(true)).bytes == [0x20, 1])
        #expect(ValueKey(.integer(-1)).bytes == [0x31, 0x40, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
        #expect(ValueKey(.integer(1 << 53 + 1)).bytes == [0x31, 0xc3, 0x40, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(ValueKey(.string("a\0\u{1}b")).bytes == [0x50, 0x61, 1, 1, 1, 2, 0x62, 0])
        #expect(ValueKey(.reference(try DocumentPath("a/__id1__"))).bytes == [0x70, 2, 0x61, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 1, 0])
        #expect(ValueKey(.map(["k": .array([.null])])).bytes == [0xb0, 1, 0x6b, 0, 0x90, 0x10, 0, 0])
    }

    @Test
    func `Keys of long strings and bytes have the indexed prefix, and are not truncated`() {
        let text = String(repeating: "x", count: 1_500)
        for (make, bracket) in [
            ({ .string($0) }, TypeBracket.string), ({ .bytes(Array($0.utf8)) }, .bytes),
        ] as [((String) -> Value, TypeBracket)] {
            let key = ValueKey(make(text))
            #expect(!key.isTruncated)
            #expect(key.bytes == [bracket.firstByte] + Array(text.utf8) + [0])
            for rest in ["a", "b", String(repeating: "a", count: 1_000_000)] { #expect(ValueKey(make(text + rest)) == key) }
            #expect(key.bytes.lexicographicallyPrecedes(ValueKey(make(text.dropLast() + "y")).bytes))
            #expect(ValueKey(make(String(text.dropLast()))).bytes.lexicographicallyPrecedes(key.bytes))
        }
        #expect(ValueKey(.array([.string(text + "a")])) == ValueKey(.array([.string(text + "b")])))
    }

    @Test
    func `Keys of long values are truncated, and distinguish values with different prefixes`() {
        let zeros = ValueKey(.vector([Double](repeating: 0, count: 2_048)))
        let ones = ValueKey(.vector([Double](repeating: 1, count: 2_048)))
        #expect(zeros.isTruncated && ones.isTruncated)
        #expect(zeros.bytes.count == ValueKey.maximumBytes + 1)
        #expect(zeros.bytes.lexicographicallyPrecedes(ones.bytes))
        let text = String(repeating: "\0", count: 1_000)
        #expect(ValueKey(.string(text)).isTruncated)
        #expect(ValueKey(.string(text)) == ValueKey(.string(text + "a")))
    }

    @Test
    func `Truncated keys of random values keep their order`() {
        var random = RandomValues(generator: SeededGenerator())
        let values = (0..<60).map { _ -> Value in
            let padding = Value.string(String(repeating: "p", count: 1_400 + random.pick(Array(0..<110))))
            return .array([padding, random.value(depth: 1), random.value(depth: 1)])
        }
        for left in values {
            for right in values {
                let (leftKey, rightKey) = (ValueKey(left), ValueKey(right))
                let keys = Comparison(bytes: leftKey.bytes, rightKey.bytes)
                let isUnknown = keys == .equal && leftKey.isTruncated && rightKey.isTruncated
                guard isUnknown || left.compared(to: right) == keys else {
                    Issue.record("\(left) to \(right); \(seed)")
                    return
                }
            }
        }
    }

    @Test
    func `The keys of a type are exactly the range of its bracket`() {
        var random = RandomValues(generator: SeededGenerator())
        for value in (0..<500).map({ _ in random.value() }) {
            let key = ValueKey(value)
            let found = TypeBracket.allCases.filter { ValueKeyRange.bracket($0).contains(key) }
            guard found == [TypeBracket(of: value)], ValueKeyRange.all.contains(key) else {
                Issue.record("\(value) is in \(found); \(seed)")
                return
            }
        }
    }

    @Test
    func `Key ranges contain exactly the keys of matching values`() {
        var random = RandomValues(generator: SeededGenerator())
        for _ in 0..<5_000 {
            let (bound, value) = (random.value(), random.value())
            let (key, order) = (ValueKey(value), value.compared(to: bound))
            let isSameType = TypeBracket(of: bound) == TypeBracket(of: value)
            let expected =
                [order == .equal]
                + [order == .less, order != .greater, order == .greater, order != .less].map { isSameType && $0 }
            let found = [
                ValueKeyRange.equal(to: ValueKey(bound)),
                .less(than: bound, orEqual: false), .less(than: bound, orEqual: true),
                .greater(than: bound, orEqual: false), .greater(than: bound, orEqual: true),
            ].map { $0.contains(key) }
            guard found == expected else {
                Issue.record("\(value) and \(bound): \(found); \(seed)")
                return
            }
        }
    }

    @Test
    func `Keys of geo points are decoded`() throws {
        for (latitude, longitude) in [(53.553986, 9.9856482), (-90, -180), (0, 180), (-0.0, 0)] {
            let point = try GeoPoint(validatingLatitude: latitude, longitude: longitude)
            let read = try #require(GeoPoint(valueKey: ValueKey(.geoPoint(point)).bytes))
            #expect(Value.geoPoint(read).isEqual(to: .geoPoint(point)))
        }
        #expect(GeoPoint(valueKey: ValueKey(.integer(1)).bytes) == nil)
    }
}

extension ValueKeyRange {
    fileprivate func contains(_ key: ValueKey) -> Bool {
        !key.bytes.lexicographicallyPrecedes(lower) && key.bytes.lexicographicallyPrecedes(upper)
    }
}
