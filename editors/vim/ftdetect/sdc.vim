autocmd BufRead,BufNewFile *.sdc setfiletype sdc
