import SecurityRules
import Testing

@Suite("Functions of values")
struct FunctionTests {
    @Test(
        arguments: [
            // Conversions.
            "int('-12') == -12", "int('+7') == 7", "int(2.9) == 2", "int(-2.9) == -2", "int(1e300) == 9223372036854775807",
            "int(0.0 / 0) == 0", "int(3) is int", "float(' 1.5e3 ') == 1500.0", "float('0x10p1') == 32.0", "float(2) is float",
            "string(2.0) == '2.0'", "string(null) == 'null'", "string(true) == 'true'", "string(-5) == '-5'",
            "string('a') == 'a'",
            "debug(1) == 1",
            // Strings.
            "'😀é'.size() == 2", "'AbÉ'.lower() == 'abé'", "'abé'.upper() == 'ABÉ'", "' \\n a b\\t'.trim() == 'a b'",
            "'a1b22c'.split('[0-9]+') == ['a', 'b', 'c']", "'a,b,'.split(',') == ['a', 'b', '']", "''.split(',') == ['']",
            "'abc'.split('') == ['a', 'b', 'c']", "'a.b'.replace('[.]', '\\\\0') == 'a\\\\0b'", "'abc'.matches('a.*')",
            "!'xabc'.matches('a.*')", "'aaa'.replace('a*', '-') == '-'", "'abc'.replace('x*', '-') == '-a-b-c-'",
            "'hi'.toUtf8() == b'hi'", "'abc'.matches(resource.data.s)", "'A'.matches('(?i)a')",
            // Bytes.
            "b'~~~'.toBase64() == 'fn5-'", "'hi'.toUtf8().toBase64() == 'aGk='", "b'\\xAb\\x01'.toHexString() == 'AB01'",
            "b'abc'.size() == 3", "resource.data.y.toBase64() == 'aGk='",
            // Lists and sets.
            "[1, 2].concat([2]) == [1, 2, 2]", "[1, 2, 2].hasAll([2])", "!([1].hasAll([1, 2]))", "[1, 2].hasAny([3, 2])",
            "![1].hasAny([])", "[1].hasAll([])", "[2, 1, 1].hasOnly([1, 2])", "[].hasOnly([1])", "![1, 3].hasOnly([1, 2])",
            "![1].hasAll([1.0])", "['a', 1, 2.0, null, true].join(', ') == 'a, 1, 2.0, null, true'", "[].join(',') == ''",
            "[1, 2, 1].removeAll([1]) == [2]", "[1, 1, 2].toSet().size() == 2", "[1, 2].toSet() == [2, 1].toSet()",
            "[1].toSet().union([2].toSet()) == [1, 2].toSet()", "[1, 2].toSet().intersection([2].toSet()) == [2].toSet()",
            "[1, 2].toSet().difference([2].toSet()) == [1].toSet()", "[1, 2].toSet().hasAll([1])",
            "[1].toSet().hasOnly([1].toSet())",
            "[1].toSet().hasAny([1, 2].toSet())", "resource.data.l.size() == 3", "'a' in resource.data.l",
            "!(1.0 in resource.data.l)",
            "resource.data.l.hasAll(['a', 1, 2.5])", "resource.data.l[0:2] == ['a', 1]",
            // Maps.
            "{'b': 1, 'a': 2}.keys() == ['a', 'b']", "{'b': 1, 'a': 2}.values() == [2, 1]", "{'a': 1}.get('a', 2) == 1",
            "{'a': 1}.get('b', 2) == 2", "{'a': null}.get('a', 2) == null", "{'a': {'b': 1}}.get(['a', 'b'], 2) == 1",
            "{'a': 1}.get(['a', 'b'], 2) == 2", "{'a': {'b': 1}}.get(['a', 'c'], 2) == 2", "resource.data.m.x.y == 1",
            "resource.data.m == {'k': 'v', 'x': {'y': 1}}", "resource.data.get(['m', 'x', 'y'], 0) == 1",
            "resource.data.v == {'__type__': '__vector__', 'value': [1.0, 2.0]}",
            // Differences of maps.
            "{'a': 1, 'b': 2}.diff({'b': 3, 'c': 4}).addedKeys() == ['a'].toSet()",
            "{'a': 1, 'b': 2}.diff({'b': 3, 'c': 4}).removedKeys() == ['c'].toSet()",
            "{'a': 1, 'b': 2}.diff({'b': 3, 'c': 4}).changedKeys() == ['b'].toSet()",
            "{'a': 1, 'b': 2}.diff({'b': 2}).unchangedKeys() == ['b'].toSet()",
            "{'a': 1, 'b': 2, 'd': 5}.diff({'b': 3, 'c': 4, 'd': 5}).affectedKeys() == ['a', 'b', 'c'].toSet()",
            "{'a': {'x': 1}}.diff({'a': {'x': 2}}).affectedKeys().hasOnly(['a'])",
            "{'a': 1}.diff({'a': 1.0}).changedKeys().size() == 1",
            // Timestamps.
            "timestamp.date(2024, 2, 29).dayOfYear() == 60", "timestamp.date(2024, 12, 31).dayOfYear() == 366",
            "timestamp.date(2026, 11, 25).dayOfWeek() == 3", "timestamp.date(1, 1, 1).dayOfWeek() == 1",
            "timestamp.date(2024, 5, 5).dayOfWeek() == 7", "timestamp.value(1500).nanos() == 500000000",
            "timestamp.value(-1).toMillis() == -1", "timestamp.value(-1).year() == 1969", "timestamp.value(-1).seconds() == 59",
            "request.time.date() == timestamp.date(2024, 5, 1)", "request.time.time() == duration.value(12, 'h')",
            "resource.data.t.year() == 2024", "resource.data.t.month() == 2", "resource.data.t.day() == 29",
            "resource.data.t.hours() == 23", "resource.data.t.minutes() == 59", "resource.data.t.seconds() == 58",
            "resource.data.t.nanos() == 123456000", "resource.data.t.date() + resource.data.t.time() == resource.data.t",
            // Durations.
            "duration.value(1500, 'ms').seconds() == 1", "duration.value(1500, 'ms').nanos() == 500000000",
            "duration.value(-1500, 'ms').seconds() == -1", "duration.value(-1500, 'ms').nanos() == -500000000",
            "duration.abs(duration.value(-1, 'w')) == duration.value(7, 'd')", "duration.time(1, 2, 3, 4).seconds() == 3723",
            "duration.value(315576000000, 's').seconds() == 315576000000", "duration.value(1000, 'ns') < duration.value(1, 'ms')",
            // Geographic points.
            "latlng.value(1, 2.5).latitude() == 1.0", "latlng.value(1, 2.5).longitude() == 2.5",
            "resource.data.g.latitude() == 52.5",
            "latlng.value(0, 0).distance(latlng.value(0, 180)) > 20000000.0", "latlng.value(1, 2) == latlng.value(1, 2)",
            // Mathematics.
            "math.abs(-1) is int", "math.abs(-1.5) == 1.5", "math.ceil(1.2) == 2.0", "math.ceil(1) is float",
            "math.floor(-1.2) == -2.0",
            "math.round(2.5) == 3", "math.round(-2.5) == -2", "math.round(2.4) is int", "math.round(0.0 / 0) == 0",
            "math.round(1e300) == 9223372036854775807", "math.round(0.49999999999999994) == 0", "math.round(4) == 4",
            "math.sqrt(4) == 2.0", "math.pow(2, 10) == 1024.0", "math.isNaN(math.sqrt(-1))", "math.isInfinite(1 / 0.0)",
        ]
    )
    func `An expression is true`(expression: String) throws {
        let outcome = try outcome(of: expression)
        #expect(outcome.value == true, "\(outcome.message)")
    }

    @Test(
        arguments: [
            ("int('1.5') == 1", "Type conversion error. Argument: ['1.5'], From type: [string], To type: [int]."),
            ("int('') == 1", "Type conversion error."),
            ("int(' 1') == 1", "Type conversion error."),
            ("int('99999999999999999999') == 1", "Type conversion error."),
            ("int(true) == 1", "Type conversion error."),
            ("float('') == 1", "Type conversion error."),
            ("float('nan') == 1", "Type conversion error."),
            ("string([]) == ''", "Type conversion error."),
            ("string(b'a') == 'a'", "Type conversion error."),
            ("string(request.time) == ''", "Type conversion error."),
            ("path(/a/b) == /a/b", "Type conversion error."),
            ("bool(1)", "Function not found error: Name: [bool]."),
            ("'a'.matches(1)", "Unsupported operation error. Received: string.matches(int). Expected: string.matches(string)."),
            ("'a'.matches(resource.data.s + '(')", "Invalid regular expression: missing )."),
            ("'a'.replace('a') == 'a'", "Incorrect number of arguments. Received: 1. Expected: 2."),
            (
                "[1].toSet().difference([1]).size() == 0",
                "Unsupported operation error. Received: set.difference(list). Expected: set.difference(set)."
            ),
            ("[1].hasAny([1].toSet())", "Unsupported operation error. Received: list.hasAny(set). Expected: list.hasAny(list)."),
            ("[1].hasAny(null)", "Null value error."),
            ("[[1]].join(',') == ''", "Type conversion error."),
            ("{'a': 1}.hasAll(['a'])", "Function not found error: Name: [hasAll]."),
            ("[1].toSet().concat([1]).size() == 1", "Function not found error: Name: [concat]."),
            ("[1].toSet()[0] == 1", "Unsupported operation error. Received: set.[](int)."),
            ("{'a': 1}.get(1, 2) == 2", "Unsupported operation error. Received: map.get(int, int)."),
            ("{'a': 1}.get([], 2) == 2", "Unsupported operation error."),
            ("{'a': 1}.diff([]).affectedKeys().size() == 0", "Unsupported operation error. Received: map.diff(list)."),
            ("path('a/{b}').bind({}).b == ''", "Invalid argument of bind: {}."),
            ("path('a/{b}').bind({'b': 'x/y'}).b == ''", "Invalid argument of bind:"),
            ("timestamp.date(2023, 2, 29).year() == 2023", "Invalid argument of timestamp.date: [2023, 2, 29]."),
            ("timestamp.date(10000, 1, 1).year() == 1", "Invalid argument of timestamp.date:"),
            ("timestamp.date(0, 1, 1).year() == 1", "Invalid argument of timestamp.date:"),
            ("timestamp.value(9223372036854775807).year() == 1", "Invalid argument of timestamp.value:"),
            ("duration.value(1, 'y').seconds() == 1", "Invalid argument of duration.value: [1, 'y']."),
            ("duration.value(315576000001, 's').seconds() == 1", "Invalid argument of duration.value:"),
            ("duration.value('1', 's').seconds() == 1", "Unsupported operation error. Received: duration.value(string, string)."),
            ("latlng.value(90.1, 0).latitude() == 1.0", "Invalid argument of latlng.value:"),
            ("math.abs('a') == 1", "Unsupported operation error. Received: math.abs(string). Expected: math.abs(number)."),
            ("math.abs(-9223372036854775808) == 0", "The result does not fit in 64 bits."),
            ("math.cube(2) == 8", "Function not found error: Name: [math.cube]."),
            ("math.pow(2) == 8", "Incorrect number of arguments. Received: 1. Expected: 2."),
            ("hashing.md5('a') == b''", "Function not found error: Name: [md5]."),
            ("get('a').data.x == 1", "Unsupported operation error. Received: get(string). Expected: get(path)."),
            ("exists(/a/b)", "Service call error. Function: [exists], Argument: [path_value {/a/b}]."),
            (
                "exists(path('/databases/(default)/documents/a/' + '' + '/b/c'))",
                "Service call error. Function: [exists], Argument: [path_value {/databases/(default)/documents/a//b/c}]."
            ),
            ("exists(/databases/other/documents/a/b)", "Service call error. Function: [exists]"),
            ("exists(/databases/$(database)/documents/a)", "Service call error. Function: [exists]"),
            (
                "get(/databases/$(database)/documents/a/x).data.y == 1",
                "Service call error. Function: [get], Argument: [path_value {/databases/(default)/documents/a/x}]."
            ),
            ("get(null) == null", "Null value error."),
        ] as [(String, String)]
    )
    func `An invalid call is an error with its reason`(expression: String, message: String) throws {
        let outcome = try outcome(of: expression)
        #expect(outcome.value == nil)
        #expect(outcome.message.hasPrefix(message), "\(outcome.message)")
    }

    @Test(
        arguments: [
            "hashing.md5('abc') == b'md5:abc'", "hashing.sha256(b'abc') == b'sha256:abc'",
            "hashing.crc32('abc').toHexString() == '63726333323A616263' || hashing.crc32('abc') == b'crc32:abc'",
            "hashing.crc32c('x') == b'crc32c:x'",
        ]
    )
    func `Digests come from the environment`(expression: String) throws {
        let environment = RulesEnvironment(digest: { algorithm, bytes in Array("\(algorithm.rawValue):".utf8) + bytes })
        #expect(try outcome(of: expression, environment: environment).value == true)
    }
}
