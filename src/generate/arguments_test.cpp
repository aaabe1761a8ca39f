#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include "generate/testing.hpp"

namespace weft {
namespace {

struct BadSource {
  const char* source;
  ErrorCode code;
  std::vector<std::string> words;
};

void PrintTo(const BadSource& bad, std::ostream* stream) { *stream << bad.source; }

class BadSources : public ::testing::TestWithParam<BadSource> {};

TEST_P(BadSources, IsRefusedWithASentence) {
  testing::expect_error(GetParam().code, GetParam().words, [] { generate<double>(GetParam().source); });
}

constexpr auto invalid = ErrorCode::invalid_argument;
constexpr auto unsupported = ErrorCode::unsupported;

INSTANTIATE_TEST_SUITE_P(
    Generators, BadSources,
    ::testing::Values(
        BadSource{"poisson2d:5", invalid, {"'poisson2d:5'", "gen:"}},
        BadSource{"gen:", invalid, {"no generator ''", "poisson2d, poisson3d", "fem:MESH"}},
        BadSource{"gen:poison3d:5", invalid, {"no generator 'poison3d'", "did you mean 'poisson3d'?", "empty-rows"}},
        BadSource{"gen:elasticity:5", invalid, {"did you mean 'elasticity3d'?"}},
        BadSource{"gen:zzzzzz:5", invalid, {"no generator 'zzzzzz'; there are"}},
        BadSource{"gen:poisson2d", invalid, {"gen:poisson2d: N is missing", "usage: gen:poisson2d:N[:NY]"}},
        BadSource{"gen:poisson2d:", invalid, {"N is missing"}},
        BadSource{"gen:poisson2d:5:", invalid, {"an argument is empty"}},
        BadSource{"gen:poisson2d::5", invalid, {"an argument is empty"}},
        BadSource{"gen:poisson2d:5:6:7", invalid, {"'7' is one argument too many"}},
        BadSource{"gen:poisson3d:5:6", invalid, {"NZ is missing"}},
        BadSource{"gen:poisson2d:abc", invalid, {"N = 'abc' is not a whole number"}},
        BadSource{"gen:poisson2d:1.5", invalid, {"N = '1.5' is not a whole number"}},
        BadSource{"gen:poisson2d: 5", invalid, {"is not a whole number"}},
        BadSource{"gen:poisson2d:0", invalid, {"N = '0' is out of range: it must be 1 or more"}},
        BadSource{"gen:poisson2d:-3", invalid, {"N = '-3' is out of range"}},
        BadSource{"gen:poisson2d:-99999999999999999999", invalid, {"out of range"}},
        BadSource{"gen:poisson2d:99999999999999999999", unsupported, {"past 2^31-1"}},
        BadSource{"gen:poisson2d:2147483648", unsupported, {"past 2^31-1"}},
        BadSource{"gen:poisson2d:46341", unsupported, {"more than 2^31-1 rows"}},
        BadSource{"gen:poisson3d:1291", unsupported, {"more than 2^31-1 rows"}},
        BadSource{"gen:stencil27:2147483647", unsupported, {"more than 2^31-1 rows"}},
        BadSource{"gen:elasticity3d:895", unsupported, {"more than 2^31-1 rows"}},
        BadSource{"gen:elasticity3d:1", invalid, {"it must be 2 or more"}},
        BadSource{"gen:elasticity3d:5:variation=100", invalid, {"variation = '100'", "0 to 99"}},
        BadSource{"gen:rmat:31", invalid, {"SCALE = '31' is out of range: it must be 0 to 30"}},
        BadSource{"gen:rmat:3000000000", invalid, {"SCALE = '3000000000' is out of range: it must be 0 to 30"}},
        BadSource{"gen:rmat:-1", invalid, {"SCALE = '-1'", "0 to 30"}},
        BadSource{"gen:rmat:4:edges=0", invalid, {"edges = '0'"}},
        BadSource{"gen:rmat:4:egdes=3", invalid, {"no argument 'egdes='", "did you mean 'edges'?"}},
        BadSource{"gen:rmat:4:edges=3:edges=4", invalid, {"'edges=' is given twice"}},
        BadSource{"gen:rmat:4:edges=", invalid, {"edges = '' is not a whole number"}},
        BadSource{"gen:rmat:4:seed=-1", invalid, {"seed = '-1'", "0 or more"}},
        BadSource{"gen:rmat:4:edges=3:7", invalid, {"'7' comes after 'edges='"}},
        BadSource{"gen:uniform:5:6", invalid, {"PER_ROW = '6' is out of range: it must be 0 to 5"}},
        BadSource{"gen:uniform:5:4:cols=3", invalid, {"PER_ROW = '4'", "0 to 3"}},
        BadSource{"gen:uniform:5:3000000000", invalid, {"PER_ROW = '3000000000'", "0 to 5"}},
        BadSource{"gen:uniform:5", invalid, {"PER_ROW is missing"}},
        BadSource{"gen:uniform:5:2:cols=3000000000", unsupported, {"past 2^31-1"}},
        BadSource{"gen:band:5", invalid, {"HALF is missing"}},
        BadSource{"gen:band:5:3000000000", invalid, {"HALF = '3000000000'", "0 to 2147483647"}},
        BadSource{"gen:tall:x", invalid, {"(usage: gen:tall[:ROWS][:cols=ROWS/100]"}},
        BadSource{"gen:rmat:4:e\tdges=3:7", invalid, {"'7' comes after 'e?dges='"}},
        BadSource{"poisson\t2d", invalid, {"'poisson?2d' names no generator"}},
        BadSource{"gen:circuit:100:hubs=65", invalid, {"0 to 64"}}, BadSource{"gen:lp:5", invalid, {"COLS is missing"}},
        BadSource{"gen:dense:2147483647", ErrorCode::out_of_memory, {"GB"}},
        BadSource{"gen:rmat:30:edges=2147483647", ErrorCode::out_of_memory, {"GB"}},
        BadSource{"fem:", invalid, {"missing", "usage: fem:MESH.msh:poisson|elasticity:p1|p2"}},
        BadSource{"fem:part.msh", invalid, {"missing"}},
        BadSource{"fem:part.msh:p1", invalid, {"the equation or the order is missing"}},
        BadSource{"fem:part.msh:poison:p1", invalid, {"'poison'", "did you mean 'poisson'?"}},
        BadSource{"fem:part.msh:poisson:p3", invalid, {"'p3' is neither p1 nor p2"}},
        BadSource{"fem::poisson:p1", invalid, {"the mesh is missing"}},
        BadSource{"fem:/nowhere/part.msh:poisson:p1", ErrorCode::io, {"/nowhere/part.msh"}},
        BadSource{"fem:a:b:poisson:p1", ErrorCode::io, {"a:b"}}));

TEST(Generators, IsGeneratorKnowsBothPrefixes) {
  EXPECT_TRUE(is_generator("gen:poisson2d:3"));
  EXPECT_TRUE(is_generator("fem:part.msh:poisson:p1"));
  EXPECT_FALSE(is_generator("general.mtx"));
  EXPECT_FALSE(is_generator("./gen:poisson2d:3"));
}

TEST(Generators, ProgressGrowsAndCanCancel) {
  double last = 0;
  generate<float>("gen:elasticity3d:12", [&](double share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1);
    last = share;
    return true;
  });
  EXPECT_GT(last, 0.5);
  for (const char* source : {"gen:rmat:12", "gen:poisson3d:40"})
    testing::expect_error(ErrorCode::cancelled, {"cancelled"},
                          [&] { generate<double>(source, [](double) { return false; }); });
}

}  // namespace
}  // namespace weft
